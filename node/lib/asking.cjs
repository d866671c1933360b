// Answers the questions of one run. Whatever isn't an answer is a no.
"use strict";

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

async function answer(request, ask) {
  const { id } = request;
  let said;
  try {
    said = await ask(request);
  } catch (error) {
    process.emitWarning(`the callback for questions failed, so the answer is no: ${error?.stack ?? error}`);
    return { id, answer: "no", reason: "the callback for questions failed" };
  }
  if (said === true) said = new Yes();
  const reason = typeof said?.reason === "string" ? said.reason : null;
  if (said instanceof Yes) {
    const lifetime = said.lifetime ?? (request.lifetimes.includes("once") ? "once" : "session");
    const isOffered = ["once", "session"].includes(lifetime) && request.lifetimes.includes(lifetime);
    if (isOffered && (said.wider !== true || request.wider.length)) {
      return { id, answer: "yes", lifetime, extent: said.wider === true ? "wider" : "requested", reason };
    }
    return { id, answer: "no", reason: "the callback's yes isn't one of those that are offered" };
  }
  return { id, answer: "no", reason, ...(said instanceof No && said.all === true ? { all: true } : {}) };
}

module.exports = { Yes, No, serve };
