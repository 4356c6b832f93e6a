// The payload of a resume: what an agent would get, within a budget.

import { get } from "./api.js";
import { choice, el, later, number, trying } from "./dom.js";

const least = 500, most = 500000; // tokens of the slider, which is logarithmic
const steps = 200;

const tokensAt = (step) => {
  const exact = least * (most / least) ** (step / steps), unit = 10 ** Math.floor(Math.log10(exact) - 1);
  return Math.round(exact / unit) * unit;
};
const stepOf = (tokens) => Math.round(steps * Math.log(Math.max(tokens, least) / least) / Math.log(most / least));

// payloadView shows the preview in a box.
export async function payloadView(session, path, box, signal) {
  const agent = choice(["claude", "opencode", "gemini"], session.agent || "claude");
  const strategy = choice([["", "default"], "hybrid", "recent", "summary", "full"]);
  const budget = el("input", { type: "range", min: 0, max: steps, step: 1, "aria-describedby": "budget" });
  const out = el("output", { id: "budget" }), text = el("input", { type: "checkbox" });
  const result = el("div", { class: "payload" });
  const show = async (tokens) => {
    const p = await get(path + "/context", { agent: agent.value, strategy: strategy.value, budget: tokens, text: text.checked }, signal);
    if (tokens === undefined) budget.value = stepOf(p.budget);
    label(p.budget);
    result.replaceChildren(...describe(p));
  };
  const label = (tokens) => {
    out.textContent = number(tokens) + " tokens";
    budget.setAttribute("aria-valuetext", out.textContent);
  };
  const soon = later(120, trying(() => show(tokensAt(Number(budget.value)))));
  budget.oninput = () => { label(tokensAt(Number(budget.value))); soon(); };
  agent.onchange = strategy.onchange = text.onchange = soon;
  box.replaceChildren(el("div", { class: "card settings" },
    el("label", {}, "Agent", agent), el("label", {}, "Strategy", strategy),
    el("label", { class: "wide" }, "Budget", budget, out),
    el("label", { class: "check" }, text, " Show the text")), result);
  await show(undefined);
}

function describe(p) {
  const share = Math.min(100, 100 * p.tokens / p.budget);
  const meter = el("meter", { min: 0, max: p.budget, value: p.tokens, "aria-label": "Tokens of the budget" });
  return [
    el("p", {}, meter, ` ${number(p.tokens)} of ${number(p.budget)} tokens (${Math.round(share)} %) · ${number(p.included)} of ${number(p.original)} messages` + (p.summarized ? `, ${number(p.summarized)} summarized` : "") + (p.room ? ` · the model has room for ${number(p.room)}` : "")),
    el("h2", {}, "Included"),
    table("Included", ["What", "Message", "Tokens", "Whole"], p.parts.map((x) => [x.what + (x.why ? " – " + x.why : ""), x.message || "", number(x.tokens), x.whole ? "yes" : "part"])),
    el("h2", {}, "Left out"),
    p.leftOut.length ? table("Left out", ["What", "Count", "Tokens", "See it with"], p.leftOut.map((x) => [x.what, number(x.count), number(x.tokens), x.show])) : el("p", { class: "soft" }, "Nothing: all of it fits."),
    p.text ? el("pre", { tabindex: 0 }, p.text) : "",
  ].filter(Boolean);
}

// table returns a table that scrolls by itself on a narrow screen.
export function table(name, heads, rows) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, el("table", {},
    el("thead", {}, el("tr", {}, ...heads.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, ...rows.map((r) => el("tr", {}, ...r.map((c) => el("td", { dir: "auto" }, String(c))))))));
}
