// Calls the plugin as OpenCode does: node drive.mjs DIR, where DIR holds the plugin
// and cortext is a stand-in that notes what it is told, or is not there.
import assert from "node:assert"
import fs from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"

const dir = process.argv[2]
const there = fs.existsSync(path.join(process.env.PATH, "cortext"))
const notes = path.join(dir, "told")
fs.rmSync(notes, { force: true })
const load = async (name) => {
  const module = await import(pathToFileURL(path.join(dir, name)).href)
  assert.deepStrictEqual(Object.keys(module), ["Cortext"]) // OpenCode calls each export
  return module.Cortext({ directory: dir })
}
const lines = () => (fs.existsSync(notes) ? fs.readFileSync(notes, "utf8").trim().split("\n").filter(Boolean) : [])

// told waits until cortext was told this, in any order, and no more.
const told = async (...want) => {
  if (!there) want = []
  for (let i = 0; i < 200 && lines().length < want.length; i++) await new Promise((done) => setTimeout(done, 25))
  const got = lines().map((line) => {
    const [, agent, event, json] = line.match(/^hook (\w+) (\w+) (.*)$/)
    const { session_id, cwd, process: id, ...more } = JSON.parse(json)
    assert.deepStrictEqual([agent, cwd, id], ["opencode", dir, String(process.pid)])
    return [event, session_id, more]
  })
  fs.rmSync(notes, { force: true })
  const sorted = (list) => list.map((x) => JSON.stringify(x)).sort()
  assert.deepStrictEqual(sorted(got), sorted(want))
}
const event = (hooks, type, properties) => hooks.event({ event: { type, properties } })

const hooks = await load("cortext.mjs")
await event(hooks, "session.created", { sessionID: "ses_1", info: { id: "ses_1" } })
await told(["Began", "ses_1", { fresh: true }])

const output = { parts: [{ type: "text", text: "expanded" }] }
await hooks["command.execute.before"]({ command: "workspace.plan", sessionID: "ses_1", arguments: 'the "release"\n👍' }, output)
await told(["Prompted", "ses_1", { prompt: '/workspace.plan the "release"\n👍' }])
assert.deepStrictEqual(output.parts.slice(1), there ? [{ type: "text", text: "From cortext: 👍 $& !`x` @y\n\n", synthetic: true }] : [])
await hooks["command.execute.before"]({ command: "workspace.session", sessionID: "ses_1", arguments: "" }, output)
await told(["Prompted", "ses_1", { prompt: "/workspace.session" }])

const quiet = { parts: [] }
await hooks["command.execute.before"]({ command: "init", sessionID: "ses_1", arguments: "" }, quiet)
await hooks["command.execute.before"]({}, quiet) // of another shape: no error
await told()
await hooks["command.execute.before"]({ command: "workspace.plan", sessionID: "ses_1", arguments: "silent" }, quiet)
await told(["Prompted", "ses_1", { prompt: "/workspace.plan silent" }])
assert.deepStrictEqual(quiet.parts, [])

// A sub-agent's session is part of another.
await event(hooks, "session.created", { sessionID: "ses_2", info: { id: "ses_2", parentID: "ses_1" } })
await hooks["chat.message"]({ sessionID: "ses_2" }, {})
await event(hooks, "session.idle", { sessionID: "ses_2" })
await event(hooks, "session.updated", { info: { id: "ses_1" } })
await event(hooks, "message.part.updated", {})
await event(hooks, "session.idle", undefined)
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_1", callID: "c" }, {})
await told()
await event(hooks, "session.idle", { sessionID: "ses_1" })
await event(hooks, "session.compacted", { sessionID: "ses_1" })
await told(["Answered", "ses_1", {}], ["Compacting", "ses_1", {}])

// A session that was there before is told of when it is gone on with.
await hooks["chat.message"]({ sessionID: "ses_3" }, {})
await hooks["chat.message"]({ sessionID: "ses_3" }, {})
await told(["Began", "ses_3", { fresh: false }])

// So is a session that the user goes back to from another.
await event(hooks, "session.idle", { sessionID: "ses_3" })
await hooks["chat.message"]({ sessionID: "ses_2" }, {})
await hooks["chat.message"]({ sessionID: "ses_1" }, {})
await hooks["chat.message"]({ sessionID: "ses_1" }, {})
await told(["Answered", "ses_3", {}], ["Began", "ses_1", { fresh: false }])

const shell = { env: { PATH: "/bin" } }
await hooks["shell.env"]({ cwd: dir, sessionID: "ses_1" }, shell)
await hooks["shell.env"]({ cwd: dir }, shell)
assert.deepStrictEqual(shell.env, { PATH: "/bin", OPENCODE_SESSION_ID: "ses_1" })

const after = await load("after.mjs")
await after["tool.execute.after"]({ tool: "bash", sessionID: "ses_4", callID: "c" }, {})
await told(["Began", "ses_4", { fresh: false }], ["Used", "ses_4", {}])

await event(hooks, "session.deleted", { info: { id: "ses_3" } })
await hooks.dispose()
await told(["Ended", "ses_1", {}])
await hooks.dispose()
await told()

// An answer is waited for, but not for ever.
const late = await load("late.mjs")
await late["command.execute.before"]({ command: "workspace.plan", sessionID: "ses_1", arguments: "late" }, quiet)
assert.deepStrictEqual(quiet.parts, [])
console.log("ok")
process.exit(0)
