// A conversation, as an export renders it, which grows as it does on disk.

import { follow, get, getTagged } from "./api.js";
import { age, byId, date, el, later, number, say, trying, unfold } from "./dom.js";
import { actions } from "./actions.js";
import { payloadView } from "./payload.js";

const partLength = 200; // messages of a request, unless one turn has more
const mostLength = 1000; // messages that the server renders at a time
const nearEnd = 120; // pixels: whoever is closer to the end stays there

export class Talk {
  constructor(id, changed) {
    this.id = id;
    this.path = "/api/sessions/" + encodeURIComponent(id);
    this.changed = changed; // called after a change of what the list shows
    this.closing = new AbortController();
    this.next = 1; // number of the first message that is not here yet
    this.unseen = 0;
    this.unfolded = false; // also what comes later
    this.refreshSoon = later(150, trying(() => this.refresh()));
  }

  close() { this.closing.abort(); }

  // open shows the conversation, and scrolls to a message, if any.
  async open(message, view) {
    this.intro = el("div");
    this.bar = el("div");
    this.head = el("header", { class: "head" }, this.intro, this.bar);
    this.body = el("div", { id: "talk" });
    this.more = el("button", { type: "button", id: "more", hidden: true, onclick: () => this.toEnd() });
    byId("main").replaceChildren(this.head, this.body, this.more);
    await this.describe();
    if (view === "payload") {
      await payloadView(this.session, this.path, this.body, this.closing.signal);
      return;
    }
    addEventListener("hashchange", () => this.reveal(), { signal: this.closing.signal });
    byId("main").onscroll = () => { if (this.atEnd()) this.seen(); };
    await this.turns();
    do await this.part(); while (this.next <= this.total && this.next <= message);
    this.reveal(message);
    this.rest(message);
    follow(this.path + "/events", this.closing.signal, (event) => this.event(event), () => this.refreshSoon());
  }

  // describe reads and shows what is above the conversation.
  async describe() {
    const { value, tag } = await getTagged(this.path, { messages: 0 }, this.closing.signal);
    this.session = value.session;
    this.tag = tag;
    const s = this.session;
    document.title = s.name + " – cortext";
    const facts = [["Agent", s.agent], ["Model", s.model], ["Messages", number(s.metrics.messageCount)], ["Tool calls", number(s.metrics.toolCallCount)], ["Tokens", number(s.metrics.tokenEstimate)], ["Status", s.archived ? s.status + ", archived" : s.status], ["Last message", age(s.updatedAt)], ["Tags", s.tags.join(", ")]];
    this.intro.replaceChildren(...[
      el("p", { class: "soft" }, el("a", { href: "#/", class: "back" }, "‹ All"), s.type + " · " + date(s.createdAt)),
      el("h1", { dir: "auto" }, s.name),
      el("dl", { class: "facts" }, ...facts.filter(([, v]) => v && v !== "0").map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, v)))),
      about(s),
    ].filter(Boolean));
    if (this.bar.dataset.status === s.status) return; // the bar keeps what is pressed in it, and the focus
    const bar = actions(this);
    bar.dataset.status = s.status;
    this.bar.replaceWith(bar);
    this.bar = bar;
  }

  // turns reads where the turns begin: the numbers of the user's messages, and of the first.
  async turns() {
    const { prompts, total } = await get(this.path + "/prompts", {}, this.closing.signal);
    this.starts = [...new Set([1, ...prompts.map((p) => p.number)])];
    this.total = total;
  }

  // part reads and appends the next part of the conversation: whole turns.
  async part() {
    const later = this.starts.filter((n) => n > this.next);
    const end = later.findLast((n) => n - this.next <= partLength) ?? later[0];
    const to = Math.min(end ? end - 1 : this.total, this.next + mostLength - 1);
    const p = await get(this.path + "/html", { from: this.next, to }, this.closing.signal);
    this.append(p.html, !this.starts.includes(this.next));
    this.next = p.to + 1;
  }

  // rest reads what is behind the message that was asked for, without holding up the reader.
  async rest() {
    try {
      while (this.next <= this.total && !this.closing.signal.aborted) {
        await this.part();
        await new Promise((done) => setTimeout(done));
      }
    } catch (e) {
      if (e.name !== "AbortError") say(e.message, true);
    }
  }

  // append adds sections. One that is here already is replaced, if it has changed. If the
  // HTML continues a turn, its first section is the rest of one that is here.
  append(html, continues) {
    const parts = document.createElement("template");
    parts.innerHTML = html; // from the server's renderer, which escapes all text
    for (const [i, section] of [...parts.content.children].entries()) {
      if (this.unfolded) unfold(section, true);
      const old = section.id && this.body.querySelector("#" + CSS.escape(section.id));
      if (!old) this.body.append(section);
      else if (i === 0 && continues) old.append(...section.childNodes);
      else if (!old.isEqualNode(section)) replace(old, section);
    }
  }

  // refresh reads the last turn again, and what followed it.
  async refresh() {
    if (this.closing.signal.aborted || this.next <= this.total) return; // rest is still reading
    const end = this.atEnd(), before = this.total;
    await this.turns();
    this.next = this.starts.findLast((n) => n <= before) ?? 1;
    while (this.next <= this.total && !this.closing.signal.aborted) await this.part();
    if (this.total <= before) return;
    if (end) this.toEnd();
    else {
      this.unseen += this.total - before;
      this.more.textContent = `${number(this.unseen)} new ↓`;
      this.more.hidden = false;
    }
  }

  event(event) {
    switch (event.type) {
      case "message": case "call":
        this.refreshSoon();
        break;
      case "change":
        trying(() => this.describe())();
        break;
      case "reset":
        this.body.replaceChildren();
        this.next = 1;
        this.total = 0;
        this.refreshSoon();
        break;
      case "gone":
        say("This conversation was removed.", true);
    }
  }

  scroller() { const m = byId("main"); return m.scrollHeight > m.clientHeight + 1 ? m : document.scrollingElement; }
  atEnd() { const s = this.scroller(); return s.scrollTop + s.clientHeight >= s.scrollHeight - nearEnd; }
  seen() { this.unseen = 0; this.more.hidden = true; }
  toEnd() { const s = this.scroller(); s.scrollTop = s.scrollHeight; this.seen(); }

  // reveal scrolls to a message and opens what folds it.
  reveal(n = /\/m(\d+)$/.exec(location.hash)?.[1]) {
    const e = n && this.body.querySelector("#m" + Number(n));
    if (!e) return;
    for (let p = e; p && p !== this.body; p = p.parentElement) if (p.tagName === "DETAILS") p.open = true;
    e.classList.add("here");
    e.scrollIntoView({ block: "start" });
  }
}

// replace puts a section in the place of one with less in it. What is new comes last, so
// what folds and what can have the focus are the same as before, in the same order.
function replace(old, section) {
  const now = [...section.querySelectorAll("details")], stops = "summary, a, pre, table";
  for (const [i, d] of [...old.querySelectorAll("details")].entries()) if (now[i]) now[i].open = d.open;
  const focus = [...old.querySelectorAll(stops)].indexOf(document.activeElement);
  old.replaceWith(section);
  if (focus >= 0) section.querySelectorAll(stops)[focus]?.focus({ preventScroll: true });
}

// about shows the summary, the plan and the notes.
function about(s) {
  const marks = { completed: "✓", in_progress: "◐" };
  const parts = [];
  if (s.longTermSummary) parts.push(el("h2", {}, "Summary"), el("p", { class: "typed" }, s.longTermSummary));
  if (s.plan.length) parts.push(el("h2", {}, "Plan"), el("ul", { class: "plan" }, ...s.plan.map((step) => el("li", { class: step.status === "completed" ? "done" : "" }, el("span", { class: "mark", "aria-hidden": "true" }, marks[step.status] || "○"), step.content))));
  if (s.notes) parts.push(el("h2", {}, "Notes"), el("p", { class: "typed" }, s.notes));
  if (s.branches.length > 1) parts.push(el("p", { class: "soft" }, s.branches.length + " branches: this page shows the newest."));
  return parts.length ? el("div", { class: "card about" }, ...parts) : null;
}
