// Counts over all conversations of the workspace.

import { get } from "./api.js";
import { byId, choice, el, number, trying } from "./dom.js";
import { table } from "./payload.js";

const groupings = [["", "nothing"], "type", "agent", "model", "tag", "day"];

export async function statsView(signal) {
  const by = choice(groupings, "agent");
  const result = el("div");
  const show = async () => {
    const s = await get("/api/stats", { by: by.value }, signal);
    result.replaceChildren(
      table("Counts", ["Group", "Conversations", "Turns", "Tokens in", "Tokens out", "Tool calls", "Failed"], [row("All", s.total), ...s.groups.map((g) => row(g.key || "unknown", g.counts))]),
      el("h2", {}, "Files touched most"),
      s.files.length ? table("Files touched most", ["File", "Writes"], s.files.map((f) => [f.path, number(f.calls)])) : el("p", { class: "soft" }, "None."));
  };
  by.onchange = trying(show);
  byId("main").replaceChildren(el("header", { class: "head" }, el("p", { class: "soft" }, el("a", { href: "#/", class: "back" }, "‹ All")), el("h1", {}, "Stats"), el("div", { class: "actions" }, el("label", {}, "Group by ", by))), result);
  document.title = "Stats – cortext";
  await show();
}

const row = (name, c) => [name, ...[c.conversations, c.turns, c.tokensIn, c.tokensOut, c.toolCalls, c.failures].map(number)];
