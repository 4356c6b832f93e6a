// The list of conversations. Only the rows in view exist: a list may have 100,000.

import { get } from "./api.js";
import { age, byId, count, el } from "./dom.js";

const pageLength = 200; // conversations of a request
const spare = 8; // rows above and below those in view
const keptPages = 20;

export class List {
  constructor(open) {
    this.open = open;
    this.box = byId("list");
    this.space = byId("space");
    this.query = {};
    this.clear();
    this.box.onscroll = () => this.draw();
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.box.onclick = (e) => {
      const row = e.target.closest(".row");
      if (row) this.choose(Number(row.dataset.at), true);
    };
    this.box.onkeydown = (e) => this.key(e);
  }

  clear() {
    this.pages = new Map(); // by number: a list of conversations, or a promise of one
    this.rows = new Map(); // elements by position
    this.total = 0;
    this.at = -1; // the chosen row, and its conversation
    this.space.replaceChildren();
  }

  // show shows what a query selects.
  async show(query) {
    this.query = query;
    this.asking?.abort();
    this.asking = new AbortController();
    const first = await this.request(0);
    this.clear();
    this.box.scrollTop = 0;
    this.take(0, first);
  }

  // refresh asks again for what is in view, and keeps the place.
  async refresh() {
    if (this.asking === undefined) return;
    const from = Math.floor(this.first() / pageLength);
    const fresh = await this.request(from);
    this.pages.clear();
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.take(from, fresh);
  }

  request(page) {
    return get("/api/sessions", { ...this.query, offset: page * pageLength, limit: pageLength }, this.asking.signal);
  }

  take(page, answer) {
    this.total = answer.total;
    byId("count").textContent = answer.total ? count(answer.total, "conversation") : "No conversation matches.";
    this.pages.set(page, answer.sessions);
    this.chosen ??= this.session(this.at)?.id;
    this.draw();
  }

  height() { return this.rowHeight ||= parseFloat(getComputedStyle(this.box).getPropertyValue("--row")) * parseFloat(getComputedStyle(document.documentElement).fontSize); }
  first() { return Math.max(0, Math.floor(this.box.scrollTop / this.height()) - spare); }

  draw() {
    this.space.style.height = this.total * this.height() + "px";
    const first = this.first(), last = Math.min(this.total, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height()) + spare);
    for (const [i, row] of this.rows) {
      if (i < first || i >= last) {
        row.remove();
        this.rows.delete(i);
      }
    }
    for (let i = first; i < last; i++) {
      const sessions = this.pages.get(Math.floor(i / pageLength));
      if (!Array.isArray(sessions)) {
        this.fetch(Math.floor(i / pageLength));
        continue;
      }
      const session = sessions[i % pageLength];
      if (session && !this.rows.has(i)) this.rows.set(i, this.row(i, session));
    }
    const chosen = this.rows.get(this.at);
    if (chosen) this.box.setAttribute("aria-activedescendant", chosen.id);
    else this.box.removeAttribute("aria-activedescendant");
  }

  fetch(page) {
    if (this.pages.has(page)) return;
    const pages = this.pages;
    const asked = this.request(page).then((answer) => { if (pages === this.pages) this.take(page, answer); }, () => pages.delete(page));
    pages.set(page, asked);
    if (pages.size > keptPages) {
      const far = [...pages.keys()].sort((a, b) => Math.abs(b - page) - Math.abs(a - page))[0];
      pages.delete(far);
    }
  }

  row(i, s) {
    const facts = [age(s.updatedAt), s.type, s.agent, count(s.messageCount, "message")].filter(Boolean).join(" · ");
    if (s.id === this.chosen) this.at = i; // the order may have changed
    const row = el("div", { class: "row", role: "option", id: "row" + i, "data-at": i, "aria-setsize": this.total, "aria-posinset": i + 1, "aria-selected": s.id === this.chosen ? "true" : "false" },
      el("span", { class: "title", dir: "auto" }, s.name),
      el("span", { class: "soft" }, facts, ...s.tags.map((t) => el("span", { class: "tag" }, t)), s.status === "paused" ? "" : el("span", { class: "status " + s.status }, s.status), s.archived && el("span", { class: "status" }, "archived")));
    row.style.transform = `translateY(${i * this.height()}px)`;
    this.space.append(row);
    return row;
  }

  session(i) {
    const sessions = this.pages.get(Math.floor(i / pageLength));
    return Array.isArray(sessions) ? sessions[i % pageLength] : undefined;
  }

  // choose moves the mark to a row, and opens its conversation.
  choose(i, open) {
    if (i < 0 || i >= this.total) return;
    this.rows.get(this.at)?.setAttribute("aria-selected", "false");
    this.at = i;
    this.chosen = this.session(i)?.id;
    const top = i * this.height();
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.height() > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + this.height() - this.box.clientHeight;
    this.draw();
    this.rows.get(i)?.setAttribute("aria-selected", "true");
    const s = this.session(i);
    if (open && s) this.open(s.id);
  }

  key(e) {
    const step = Math.max(1, Math.floor(this.box.clientHeight / this.height()) - 1);
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: Math.min(this.at + step, this.total - 1), PageUp: Math.max(this.at - step, 0), Home: 0, End: this.total - 1 }[e.key];
    if (to !== undefined) {
      e.preventDefault();
      this.choose(to, false);
    } else if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      this.choose(this.at, true);
    }
  }
}

// showHits shows what a search of what was said found.
export function showHits(answer) {
  const matched = answer.total ? count(answer.total, "conversation") + (answer.total > answer.results.length ? `, the first ${answer.results.length}` : "") : "Nothing matches.";
  byId("count").textContent = [matched, ...(answer.unread ?? []).map((why) => "Not searched: " + why)].join("\n");
  byId("hits").replaceChildren(...answer.results.map((r) => el("li", {},
    el("a", { class: "title", dir: "auto", href: "#/c/" + r.session.id }, r.session.name),
    el("span", { class: "soft" }, [age(r.session.updatedAt), r.session.agent, count(r.count, "hit")].join(" · ")),
    ...r.hits.map((h) => el("a", { class: "hit", href: "#/c/" + r.session.id + (h.number ? "/m" + h.number : "") },
      h.number ? el("span", { class: "soft" }, h.number + " ") : null,
      ...h.parts.map((p, i) => i % 2 ? el("mark", {}, p) : p))))));
}
