// What can be done with a conversation.

import { download, send, upload } from "./api.js";
import { byId, choice, count, dialog, el, field, say, trying, unfold } from "./dom.js";

const formats = [["html", "HTML page"], ["md", "Markdown"], ["json", "JSON"], ["jsonl", "JSON Lines"]];

// actions returns the buttons above a conversation.
export function actions(talk) {
  const s = talk.session;
  const button = (text, action, attributes = {}) => el("button", { type: "button", onclick: trying(action), ...attributes }, text);
  const here = !location.hash.endsWith("/payload");
  return el("div", { class: "actions" },
    el("a", { class: "button", href: "#/c/" + s.id, "aria-current": here ? "page" : null }, "Conversation"),
    el("a", { class: "button", href: "#/c/" + s.id + "/payload", "aria-current": here ? null : "page" }, "Payload"),
    here ? toggle("Unfold", (on) => { talk.unfolded = on; unfold(talk.body, on); }) : null,
    here ? toggle("Talk only", (on) => talk.body.classList.toggle("talk", on)) : null,
    el("span", { class: "grow" }),
    button("Resume", () => copy("cortext resume " + s.id), { title: "Copy the command that resumes it" }),
    button("Edit", () => edit(talk)),
    button("Fork", () => fork(talk)),
    button("Export", () => exportTo(talk)),
    s.status === "active" ? button("Pause", () => pause(talk)) : null,
    button("Remove", () => remove(talk)));
}

// toggle returns a button that stays pressed.
function toggle(text, action) {
  return el("button", { type: "button", "aria-pressed": "false", onclick: (e) => {
    const on = e.target.getAttribute("aria-pressed") !== "true";
    e.target.setAttribute("aria-pressed", on);
    action(on);
  } }, text);
}

async function copy(text) {
  await navigator.clipboard.writeText(text);
  say("Copied: " + text);
}

// edit changes what the user changes in a dialog. If that fails, the dialog comes again
// with what was typed.
async function edit(talk) {
  const s = talk.session, was = { name: s.name, tags: s.tags.join(", "), notes: s.notes, status: s.status, archived: s.archived };
  let values = was, failed = "";
  do {
    values = await dialog("Edit", [
      field("Title", "name", el("input", { required: true, maxlength: 300 }), values.name),
      field("Tags", "tags", el("input", { placeholder: "api, auth" }), values.tags),
      field("Notes", "notes", el("textarea", { rows: 6 }), values.notes),
      field("Status", "status", choice(["active", "paused", "completed"]), values.status),
      field("Archived", "archived", el("input", { type: "checkbox" }), values.archived),
    ], "Save", failed);
    if (!values) return;
    const change = Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== was[name]));
    if (!Object.keys(change).length) return;
    if ("tags" in change) change.tags = change.tags.split(",").map((t) => t.trim()).filter(Boolean);
    try {
      await send("PATCH", talk.path, change, { "If-Match": talk.tag });
      failed = "";
    } catch (e) {
      failed = "Not saved: " + e.message;
      if (e.status !== 412) continue;
      failed = "Not saved: the conversation has changed meanwhile. Save again to change it all the same.";
      await talk.describe();
    }
  } while (failed);
  await talk.describe();
  talk.changed();
  say("Saved.");
}

async function fork(talk) {
  const values = await dialog("Fork", [
    field("At message", "at", el("input", { inputmode: "numeric", pattern: "[0-9]*", placeholder: "the end" })),
    field("Title", "name", el("input", { placeholder: talk.session.name })),
  ], "Fork", "A new conversation begins with the messages up to this one.");
  if (!values) return;
  const made = await send("POST", talk.path + "/fork", { at: values.at, name: values.name });
  talk.changed();
  location.hash = "#/c/" + made.session.id;
}

async function exportTo(talk) {
  const box = (on) => { const b = el("input", { type: "checkbox" }); b.checked = on; return b; };
  const values = await dialog("Export", [
    field("Format", "format", choice(formats), "html"),
    field("Tool calls", "tools", box(true), true),
    field("Reasoning", "reasoning", box(true), true),
    field("Conversations of sub-agents", "subagents", box(false), false),
    field("Redact again by today's rules", "redact", box(false), false),
  ], "Download");
  if (values) await download(talk.path + "/export", { format: values.format, noTools: !values.tools, noReasoning: !values.reasoning, subagents: values.subagents, redact: values.redact });
}

async function pause(talk) {
  const done = await send("POST", talk.path + "/stop");
  await talk.describe();
  talk.changed();
  say(done.unsaved ? "Paused, but " + done.unsaved : "Paused.", Boolean(done.unsaved));
}

async function remove(talk) {
  const values = await dialog("Remove this conversation?", [], "Remove", "Its folder is deleted. What git has of it stays in git.");
  if (!values) return;
  await send("DELETE", talk.path, undefined, { "If-Match": talk.tag });
  talk.changed();
  location.hash = "#/";
}

// importFiles lets the user choose exports and bundles, and imports them.
export function importFiles(changed) {
  const input = el("input", { type: "file", multiple: true, accept: ".json,.jsonl,.md,.html,.zst" });
  input.onchange = trying(() => importAll([...input.files], changed));
  input.click();
}

// importAll imports files, and says what came of each.
export async function importAll(files, changed) {
  const lines = [];
  for (const file of files) {
    try {
      const answer = await upload("/api/sessions/import", {}, file);
      for (const one of answer.imported) lines.push(el("li", {}, `${file.name}: `, el("a", { href: "#/c/" + one.id, onclick: (e) => e.target.closest("dialog").close() }, one.name), `, ${count(one.messages, "message")}`, ...one.warnings.map((w) => el("p", { class: "soft" }, w))));
    } catch (e) {
      lines.push(el("li", { class: "bad" }, `${file.name}: ${e.message}`));
    }
  }
  changed();
  byId("toast").className = "";
  await dialog("Imported", [el("ul", {}, ...lines)], "OK");
}
