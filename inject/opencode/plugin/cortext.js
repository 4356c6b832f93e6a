//
// Tells cortext what happens in a session, so that the conversation is captured by
// itself, and puts what cortext answers to a /workspace command beside the command.
// Where cortext is not installed it does nothing; it never holds OpenCode up.

import { spawn } from "node:child_process"
import { homedir } from "node:os"

const AFTER_TOOL = false // whether cortext captures after each tool call, too
const REPLY_MS = 10_000 // how long an answer to a command is waited for
const REPLY_CHARS = 1_000_000
const FLUSH_MS = 500 // how long the end of OpenCode waits for what was told last

// env lets cortext be found where its init left a link to it, too.
const state = process.env.XDG_STATE_HOME || homedir() + "/.local/state"
const env = { ...process.env, PATH: process.env.PATH + (process.platform === "win32" ? "" : ":" + state + "/cortext/bin") }

const start = (program, event, options) => spawn(program, ["hook", "opencode", event], { windowsHide: true, env, ...options })

// tell lets cortext act by itself; what it is told is given to it on standard input, as
// JSON. The promise is fulfilled when that is done. cortext-opencode starts faster than
// cortext; older versions of cortext come without it.
function tell(event, input, programs = ["cortext-opencode", "cortext"]) {
  const [program, ...others] = programs
  const missing = () => others.length > 0 && tell(event, input, others)
  try {
    const child = start(program, event, { cwd: input.cwd, detached: true, stdio: ["pipe", "ignore", "ignore"] })
    child.unref()
    return new Promise((told) => {
      child.on("error", () => told(missing()))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(input), (error) => error || told())
    })
  } catch {
    return missing()
  }
}

// ask returns what cortext answers, and nothing if there is no answer in time: the
// command's own text says what to do then.
function ask(event, input) {
  return new Promise((answer) => {
    let said = ""
    const timer = setTimeout(answer, REPLY_MS, "")
    const end = (text) => {
      clearTimeout(timer)
      answer(text)
    }
    try {
      const child = start("cortext", event, { cwd: input.cwd, stdio: ["pipe", "pipe", "ignore"] })
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (text) => {
        if (said.length < REPLY_CHARS) said += text
      })
      child.on("error", () => end(""))
      child.on("close", () => end(said.replace(/\n$/, "")))
      child.stdin.on("error", () => {}) // it is not installed, or has ended
      child.stdin.end(JSON.stringify(input))
    } catch {
      end("")
    }
  })
}

export const Cortext = async ({ directory }) => {
  const parts = new Set() // sessions of sub-agents: each belongs to another session
  const known = new Set() // sessions of the user's that something happened in
  let latest // the session that the user wrote in last

  const input = (sessionID, more) => ({ session_id: sessionID, cwd: directory, process: String(process.pid), ...more })

  // report tells of a session, at first that it is there.
  const report = (event, sessionID, more) => {
    if (typeof sessionID !== "string" || parts.has(sessionID)) return
    if (!known.has(sessionID)) {
      known.add(sessionID)
      if (event !== "Began") tell("Began", input(sessionID, { fresh: false }))
    }
    if (event) tell(event, input(sessionID, more))
  }

  // wrote tells that the user goes on with a session, after another one or at first.
  const wrote = (sessionID) => {
    if (sessionID === latest || parts.has(sessionID)) return
    latest = sessionID
    known.delete(sessionID)
    report("", sessionID)
  }

  // quietly makes a hook of a function: an error in a hook would end what the user
  // is doing.
  const quietly = (hook) => async (...args) => {
    try {
      await hook(...args)
    } catch {}
  }

  return {
    event: quietly(({ event }) => {
      const { sessionID, info } = event.properties ?? {}
      switch (event.type) {
        case "session.created":
          if (info?.parentID) {
            parts.add(info.id)
            break
          }
          latest = info?.id
          report("Began", latest, { fresh: true })
          break
        case "session.updated":
          if (info?.parentID) parts.add(info.id)
          break
        case "session.deleted":
          known.delete(info?.id)
          break
        case "session.idle":
          report("Answered", sessionID)
          break
        case "session.compacted":
          report("Compacting", sessionID)
          break
      }
    }),
    "chat.message": quietly(({ sessionID }) => wrote(sessionID)),
    "command.execute.before": quietly(async ({ command, sessionID, arguments: typed }, output) => {
      if (!command.startsWith("workspace.")) return
      const prompt = "/" + command + (typed ? " " + typed : "")
      const text = await ask("Prompted", input(sessionID, { prompt }))
      if (text) output.parts.push({ type: "text", text, synthetic: true })
    }),
    "shell.env": quietly(({ sessionID }, output) => {
      if (sessionID) output.env.OPENCODE_SESSION_ID = sessionID
    }),
    "tool.execute.after": quietly(({ sessionID }) => {
      if (AFTER_TOOL) report("Used", sessionID)
    }),
    dispose: quietly(async () => {
      const told = [...known].map((sessionID) => tell("Ended", input(sessionID)))
      known.clear()
      await Promise.race([Promise.all(told), new Promise((done) => setTimeout(done, FLUSH_MS))])
    }),
  }
}
