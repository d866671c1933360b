// Answers the questions of one run. Whatever isn't an answer is a no.
"use strict";

const { inspect } = require("node:util");

/** Grants what is asked for. Without a lifetime, for the shortest time that is offered. */
class Yes {
  constructor(lifetime, { wider = false, reason } = {}) {
    Object.assign(this, { lifetime, wider, reason });
  }
}

/** Refuses. */
class No {
  constructor(reason, { all = false } = {}) {
    Object.assign(this, { reason, all });
  }
}

/** The longest line that Stockade is listened to for. */
const LONGEST = 1024 * 1024;
/** The most characters of a reason that are passed on. */
const LONGEST_REASON = 500;

function requestOf(told) {
  if (told.version !== 1) throw new Error("its version is unknown");
  const { requested, evidence } = told;
  return {
    id: told.id, run: told.run, currentProfile: told.current_profile, grants: requested.grants ?? [], profile: requested.profile,
    wider: told.wider?.grants ?? [], reason: told.reason, access: evidence.access, target: evidence.target, asked: evidence.asked,
    program: evidence.program, pid: evidence.pid, agent: evidence.agent, warning: evidence.warning, lifetimes: told.lifetimes,
    live: told.live, timeout: told.timeout_ms, json: told,
  };
}

/** Serves the questions that come over this socket, until it ends. */
function serve(socket, ask) {
  const withdrawn = new Set();
  let rest = "";
  const end = () => socket.destroy();
  socket.setEncoding("utf8");
  socket.on("error", end);
  socket.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    if (rest.length > LONGEST) return end();
    for (const line of lines) {
      let request;
      try {
        const told = JSON.parse(line);
        if (Object.hasOwn(told, "withdrawn")) {
          withdrawn.add(told.withdrawn);
          continue;
        }
        request = requestOf(told);
      } catch (error) {
        process.emitWarning(`a question of Stockade can't be read, so it is refused: ${error.message}`);
        return end();
      }
      void answer(request, ask).then((said) => {
        if (!socket.destroyed && !withdrawn.has(request.id)) socket.write(`${JSON.stringify(said)}\n`);
      });
    }
  });
}

/** What Stockade is told; never rejected. What the callback throws or returns may itself throw when it is looked at. */
async function answer(request, ask) {
  try {
    return judged(request, await ask(request));
  } catch (error) {
    process.emitWarning(`the callback for questions failed, so the answer is no: ${textOf(error)}`);
    return { id: request.id, answer: "no", reason: "the callback for questions failed" };
  }
}

function judged(request, answered) {
  const { id } = request;
  const said = answered === true ? new Yes() : answered;
  if (said instanceof Yes) {
    const lifetime = said.lifetime ?? (request.lifetimes.includes("once") ? "once" : "session");
    const isWider = said.wider === true;
    const isOffered = ["once", "session"].includes(lifetime) && request.lifetimes.includes(lifetime);
    if (isOffered && (!isWider || request.wider.length)) {
      return { id, answer: "yes", lifetime, extent: isWider ? "wider" : "requested", reason: reasonOf(said) };
    }
    return { id, answer: "no", reason: "the callback's yes isn't one of those that are offered" };
  }
  if (said instanceof No) return { id, answer: "no", reason: reasonOf(said), ...(said.all === true ? { all: true } : {}) };
  return { id, answer: "no" };
}

/** A bounded reason that is whole characters: Stockade takes no other, and a yes would become a no. */
function reasonOf({ reason }) {
  return typeof reason === "string" ? Buffer.from(reason.slice(0, LONGEST_REASON)).toString() : null;
}

function textOf(error) {
  try {
    return inspect(error);
  } catch {
    return "what it threw can't be shown";
  }
}

module.exports = { Yes, No, serve };
