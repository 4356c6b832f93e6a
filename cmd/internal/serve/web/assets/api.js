// Requests to the server.

const token = document.querySelector("meta[name=cortext-token]").content;
let workspace = "";

// useWorkspace makes a folder the workspace of all requests; "" is the server's own.
export function useWorkspace(folder) { workspace = folder; }

// A Problem is an answer that is no success.
export class Problem extends Error {
  constructor(status, detail, hint) {
    super(detail + (hint ? ": " + hint : ""));
    this.status = status;
  }
}

function address(path, query) {
  const url = new URL(path, location.origin);
  for (const [k, v] of Object.entries(query || {})) if (v !== "" && v !== undefined && v !== null) url.searchParams.set(k, v);
  if (workspace) url.searchParams.set("workspace", workspace);
  return url;
}

async function request(path, query, options = {}) {
  const headers = new Headers(options.headers);
  headers.set("Authorization", "Bearer " + token);
  const answer = await fetch(address(path, query), { ...options, headers, cache: "no-cache" });
  if (answer.ok) return answer;
  let p = {};
  try { p = await answer.json(); } catch { /* no problem document: the status must do */ }
  if (answer.status === 401) throw new Problem(401, "cortext serve was started again: open the address that it printed");
  throw new Problem(answer.status, p.detail || p.title || "the server answered " + answer.status, p.hint);
}

// get returns the JSON of a path.
export async function get(path, query, signal) {
  return (await request(path, query, { signal })).json();
}

// getTagged returns the JSON of a path, and its ETag.
export async function getTagged(path, query, signal) {
  const answer = await request(path, query, { signal });
  return { value: await answer.json(), tag: answer.headers.get("ETag") || "" };
}

// send sends JSON and returns that of the answer, or null.
export async function send(method, path, body, headers) {
  const answer = await request(path, {}, { method, body: body === undefined ? undefined : JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers } });
  return answer.status === 204 ? null : answer.json();
}

// upload sends a file as it is.
export async function upload(path, query, file) {
  return (await request(path, query, { method: "POST", body: file, headers: { "Content-Type": "application/octet-stream" } })).json();
}

// download saves what a path returns as a file.
export async function download(path, query) {
  const answer = await request(path, query);
  const name = /filename="?([^";]+)"?/.exec(answer.headers.get("Content-Disposition") || "");
  const url = URL.createObjectURL(await answer.blob());
  const a = document.createElement("a");
  a.href = url;
  a.download = name ? name[1] : "conversation";
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const firstWait = 500, longestWait = 15000; // milliseconds between attempts to connect

// follow calls each with every event of a stream until signal aborts. After an
// interruption it goes on behind the last event that it got. lost is called when a
// connection ends.
export async function follow(path, signal, each, lost) {
  let last = "", wait = firstWait;
  while (!signal.aborted) {
    try {
      const headers = { Accept: "text/event-stream" };
      if (last) headers["Last-Event-ID"] = last;
      const answer = await request(path, {}, { headers, signal });
      wait = firstWait;
      for await (const event of eventsOf(answer.body)) {
        if (event.id) last = event.id;
        each(event);
      }
    } catch (e) {
      if (signal.aborted || e instanceof Problem && e.status < 500) return;
    }
    lost();
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(2 * wait, longestWait);
  }
}

// eventsOf reads server-sent events: id, event and data, each event ended by an empty line.
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = { id: "", type: "message", data: "" };
      for (const line of block.split("\n")) {
        const at = line.indexOf(":"), field = line.slice(0, at), text = line.slice(at + 1).trimStart();
        if (field === "id") event.id = text;
        else if (field === "event") event.type = text;
        else if (field === "data") event.data += text;
      }
      if (event.data || event.id) yield event;
    }
  }
}
