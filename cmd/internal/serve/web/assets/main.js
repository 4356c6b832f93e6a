// The page: a list beside a conversation. What is shown is in the address behind #.

import { follow, get, useWorkspace } from "./api.js";
import { byId, el, later, say, trying } from "./dom.js";
import { importAll, importFiles } from "./actions.js";
import { List, showHits } from "./list.js";
import { statsView } from "./stats.js";
import { Talk } from "./talk.js";

const list = new List((id) => { location.hash = "#/c/" + id; });
let talk = null, viewing = new AbortController(), searching = new AbortController();

const refreshSoon = later(300, trying(() => list.refresh()));

// filters returns the query of the form.
function filters() {
  const value = (id) => byId(id).value.trim();
  return { type: value("type"), tag: value("tag"), agent: value("agent"), status: value("status"), sort: value("sort"), archived: byId("archived").checked ? "true" : "" };
}

const find = trying(async () => {
  searching.abort();
  searching = new AbortController();
  const words = byId("q").value.trim(), where = byId("where").value, said = words !== "" && where !== "list";
  if (said) {
    byId("count").textContent = "Searching…";
    const answer = await get("/api/search", { ...filters(), q: words, in: where }, searching.signal);
    showHits(answer);
  } else {
    await list.show({ ...filters(), q: words });
  }
  byId("list").hidden = said;
  byId("hits").hidden = !said;
});

const findSoon = later(120, find);

// route shows what the address names.
const route = trying(async () => {
  const hash = location.hash, found = /^#\/c\/([^/]+)(?:\/(payload|m\d+))?$/.exec(hash);
  document.body.classList.toggle("reading", hash.length > 2);
  if (found && talk?.id === decodeURIComponent(found[1]) && !talk.payload && found[2] !== "payload") return; // another message of it: the view scrolls
  talk?.close();
  talk = null;
  viewing.abort();
  viewing = new AbortController();
  const main = byId("main");
  main.scrollTop = 0;
  if (found) {
    talk = new Talk(decodeURIComponent(found[1]), refreshSoon);
    talk.payload = found[2] === "payload";
    const now = talk;
    try {
      await now.open(found[2]?.[0] === "m" ? Number(found[2].slice(1)) : 0, found[2]);
    } catch (e) {
      if (e.name !== "AbortError") main.replaceChildren(el("p", { class: "empty bad" }, e.message));
    }
  } else if (hash === "#/stats") {
    await statsView(viewing.signal);
  } else {
    document.title = "cortext";
    main.replaceChildren(el("p", { class: "empty soft" }, "Choose a conversation."));
  }
});

async function workspaces() {
  const { workspaces: all } = await get("/api/workspaces");
  if (all.length < 2) return;
  const box = byId("workspace");
  box.replaceChildren(...all.map((w) => el("option", { value: w.current ? "" : w.path, selected: w.current }, w.path)));
  box.hidden = false;
  box.onchange = () => {
    useWorkspace(box.value);
    location.hash = "#/";
    find();
    watch();
  };
}

let watching = new AbortController();

// watch refreshes the list when a conversation has changed.
function watch() {
  watching.abort();
  watching = new AbortController();
  follow("/api/events", watching.signal, refreshSoon, () => {});
}

byId("filters").onsubmit = (e) => e.preventDefault();
byId("filters").oninput = findSoon;
byId("import").onclick = () => importFiles(refreshSoon);
byId("theme").onclick = () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
};
addEventListener("hashchange", route);
addEventListener("keydown", (e) => {
  if (e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
    e.preventDefault();
    byId("q").focus();
  }
});
byId("q").onkeydown = (e) => {
  if (e.key === "ArrowDown" && !byId("list").hidden) {
    e.preventDefault();
    byId("list").focus();
    list.choose(0, false);
  }
};
addEventListener("dragover", (e) => e.preventDefault());
addEventListener("drop", (e) => {
  e.preventDefault();
  const files = [...e.dataTransfer.files];
  if (files.length) trying(() => importAll(files, refreshSoon))();
});

route();
workspaces().catch((e) => say(e.message, true));
find();
watch();
