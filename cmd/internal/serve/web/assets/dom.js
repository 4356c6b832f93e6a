// Small pieces that every view uses.

// el makes an element. Strings among the children become text, never HTML.
export function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (k.startsWith("on")) e[k] = v;
    else if (v === true) e.setAttribute(k, "");
    else if (v !== false && v !== undefined && v !== null) e.setAttribute(k, v);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false && c !== ""));
  return e;
}

export const byId = (id) => document.getElementById(id);

let fading = 0;

// say shows a message for some seconds.
export function say(text, bad = false) {
  const toast = byId("toast");
  toast.textContent = text;
  toast.className = bad ? "shown failed" : "shown";
  clearTimeout(fading);
  fading = setTimeout(() => { toast.className = ""; }, bad ? 10000 : 4000);
}

// trying runs what a button does, and shows its error.
export function trying(action) {
  return async (...args) => {
    try { await action(...args); } catch (e) { if (e.name !== "AbortError") say(e.message, true); }
  };
}

// later returns a function that runs another one once calls have stopped for some time.
export function later(milliseconds, action) {
  let timer = 0;
  return (...args) => { clearTimeout(timer); timer = setTimeout(() => action(...args), milliseconds); };
}

// unfold opens or closes everything that folds below an element.
export function unfold(e, open) { for (const d of e.querySelectorAll("details")) d.open = open; }

const minute = 60000, hour = 60 * minute, day = 24 * hour;

// age spells how long ago a time was.
export function age(ms) {
  if (!ms) return "";
  const ago = Date.now() - ms;
  if (ago < minute) return "now";
  if (ago < hour) return Math.floor(ago / minute) + " min ago";
  if (ago < day) return Math.floor(ago / hour) + " h ago";
  if (ago < 30 * day) return Math.floor(ago / day) + " d ago";
  return date(ms);
}

// date spells a day here, in the same way everywhere.
export function date(ms) {
  const d = new Date(ms), two = (n) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

export const number = (n) => n.toLocaleString("en");
export const count = (n, thing) => number(n) + " " + thing + (n === 1 ? "" : "s");

// dialog shows a form and returns its values when it is submitted, or null. fields are
// elements with names.
export function dialog(title, fields, action, note = "") {
  return new Promise((done) => {
    let values = null;
    const heading = el("h2", { id: "dialog-title" }, title);
    const form = el("form", { method: "dialog" }, heading, note && el("p", { class: "soft" }, note), ...fields,
      el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => box.close() }, "Cancel"), el("button", { class: "main", type: "submit" }, action)));
    const box = el("dialog", { "aria-labelledby": "dialog-title", onclose: () => { box.remove(); done(values); } }, form);
    form.onsubmit = () => {
      values = {};
      for (const f of form.elements) if (f.name) values[f.name] = f.type === "checkbox" ? f.checked : f.value;
    };
    document.body.append(box);
    box.showModal();
  });
}

// field is a labelled element of a dialog.
export function field(label, name, control, value = "") {
  control.name = name;
  if (control.type === "checkbox") {
    control.checked = Boolean(value);
    return el("label", { class: "check" }, control, " " + label);
  }
  control.value = value;
  return el("label", {}, label, control);
}

// choice is a <select> of values.
export function choice(values, selected = "") {
  return el("select", {}, ...values.map((v) => {
    const [value, text] = Array.isArray(v) ? v : [v, v];
    return el("option", { value, selected: value === selected }, text);
  }));
}
