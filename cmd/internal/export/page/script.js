"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const main = $("talk"), root = document.documentElement, bar = document.querySelector(".bar");
  if (!main || !bar) return;
  bar.hidden = false;
  const index = document.querySelector(".index details");
  if (index && matchMedia("(max-width: 69.99rem)").matches) index.open = false;

  // light or dark
  $("theme").onclick = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  };

  // folding
  const press = (button, on) => button.setAttribute("aria-pressed", on);
  let unfolded = false;
  $("fold").onclick = () => {
    unfolded = !unfolded;
    for (const d of main.querySelectorAll("details")) d.open = unfolded;
    press($("fold"), unfolded);
    $("fold").textContent = unfolded ? "Fold all" : "Unfold all";
  };
  $("only").onclick = () => press($("only"), main.classList.toggle("talk"));
  const reveal = (node) => {
    for (let e = node; e && e !== main; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  };
  const target = () => {
    const e = location.hash && $(decodeURIComponent(location.hash.slice(1)));
    if (!e) return;
    if (main.classList.contains("talk") && e.closest(".calls, .event")) $("only").click();
    reveal(e);
    e.scrollIntoView();
  };
  addEventListener("hashchange", target);
  target();

  // failed steps are open on paper
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...main.querySelectorAll("details.failed:not([open])")];
    for (const d of opened) d.open = true;
  });
  addEventListener("afterprint", () => { for (const d of opened) d.open = false; });

  // the prompt that is being read
  const links = new Map();
  for (const a of document.querySelectorAll(".index a")) links.set(a.getAttribute("href").slice(1), a);
  if ("IntersectionObserver" in window) {
    let here = null;
    const seen = new Set();
    const watch = new IntersectionObserver((list) => {
      for (const x of list) x.isIntersecting ? seen.add(x.target) : seen.delete(x.target);
      let first = null;
      for (const s of seen) if (!first || s.compareDocumentPosition(first) & Node.DOCUMENT_POSITION_FOLLOWING) first = s;
      const a = first && links.get(first.id);
      if (!a || a === here) return;
      if (here) { here.classList.remove("here"); here.removeAttribute("aria-current"); }
      here = a;
      a.classList.add("here");
      a.setAttribute("aria-current", "true");
      const list2 = a.closest("ol"), at = a.offsetTop - list2.offsetTop;
      if (at < list2.scrollTop || at + a.offsetHeight > list2.scrollTop + list2.clientHeight) list2.scrollTop = at - list2.clientHeight / 2;
    }, { rootMargin: "-64px 0px -60% 0px" });
    for (const s of main.querySelectorAll(":scope > .turn")) watch.observe(s);
  }

  // search
  const find = $("find"), found = $("found"), marks = window.CSS && CSS.highlights;
  let ranges = [], at = -1, words = "", timer = 0;
  const most = 2000;
  const search = () => {
    words = find.value.trim().toLowerCase();
    ranges = [];
    at = -1;
    if (words.length > 1) {
      const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
      for (let n; ranges.length < most && (n = walk.nextNode());) {
        const text = n.data.toLowerCase();
        if (text.length !== n.data.length) continue;
        for (let i = text.indexOf(words); i >= 0 && ranges.length < most; i = text.indexOf(words, i + words.length)) {
          const r = new Range();
          r.setStart(n, i);
          r.setEnd(n, i + words.length);
          ranges.push(r);
        }
      }
    }
    if (marks) ranges.length ? marks.set("found", new Highlight(...ranges)) : marks.delete("found");
    if (marks) marks.delete("here");
    found.textContent = words.length > 1 ? (ranges.length ? ranges.length + (ranges.length === most ? "+" : "") : "none") : "";
  };
  const go = (step) => {
    if (!ranges.length) return;
    at = (at + step + ranges.length) % ranges.length;
    const r = ranges[at], e = r.startContainer.parentElement;
    if (main.classList.contains("talk") && e.closest(".calls, .event, .reasoning")) $("only").click();
    reveal(e);
    if (marks) marks.set("here", new Highlight(r));
    e.scrollIntoView({ block: "center" });
    found.textContent = at + 1 + " of " + ranges.length;
  };
  find.oninput = () => { clearTimeout(timer); timer = setTimeout(search, 150); };
  find.onkeydown = (e) => {
    if (e.key === "Enter") {
      e.preventDefault();
      clearTimeout(timer);
      if (find.value.trim().toLowerCase() !== words) search();
      go(e.shiftKey ? -1 : 1);
    } else if (e.key === "Escape") { find.value = ""; search(); }
  };
  addEventListener("keydown", (e) => {
    if (e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
      e.preventDefault();
      find.focus();
    }
  });
})();
