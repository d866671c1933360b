// Runs of programs inside a permission profile.
"use strict";

const fs = require("node:fs/promises");
const { MAX_STRING_LENGTH } = require("node:buffer").constants;
const os = require("node:os");
const path = require("node:path");
const { PermissionDenied, RunFailed, StockadeError, TimeoutExpired } = require("./errors.cjs");
const { checked, fromFlags, joined } = require("./options.cjs");
const { launch } = require("./launch.cjs");
const { parts } = require("./text.cjs");

/** The most bytes of a stream that `run` keeps. */
const MOST_OUTPUT = 64 * 1024 * 1024;
const CALL = ["input", "encoding", "check", "stdio", "signal", "maxBuffer"];
const SUFFIXES = { python: ".py", javascript: ".js", typescript: ".ts", shell: ".sh" };

/** What runs may do: kept, used as often as you like, and never changed. */
class Sandbox {
  #options;

  constructor(options = {}) {
    this.#options = Object.freeze(checked(options));
  }

  get options() {
    return { ...this.#options };
  }

  /** A sandbox that allows this as well: options, or the flags of a denial or suggestion. */
  allowing(more) {
    const wider = new Sandbox();
    wider.#options = Object.freeze(joined(this.#options, checked(Array.isArray(more) ? fromFlags(more) : more)));
    return wider;
  }

  /** Runs a command to its end. */
  run(command, args = [], options = {}) {
    if (!Array.isArray(args)) return this.run(command, [], args);
    return this.#run("run", [command, ...args], options);
  }

  /** Starts a command; the child has a promise `ended` of what the run left. */
  spawn(command, args = [], options = {}) {
    if (!Array.isArray(args)) return this.spawn(command, [], args);
    const { call, rest } = split(options);
    return launch("run", [command, ...args], joined(this.#options, checked(rest)), call);
  }

  /** Runs generated code; without a profile, with the least that its text needs. */
  async execCode(code, { lang = "python", args = [], ...options } = {}) {
    if (!Object.hasOwn(SUFFIXES, lang)) throw new TypeError(`\`lang\` is one of ${Object.keys(SUFFIXES).join(", ")}`);
    const directory = await fs.mkdtemp(path.join(await fs.realpath(os.tmpdir()), "stockade-code-"));
    try {
      const file = path.join(directory, `code${SUFFIXES[lang]}`);
      await fs.writeFile(file, code, { flag: "wx" });
      return await this.#run("exec", [file, ...args], options, ["--forget"]);
    } finally {
      await fs.rm(directory, { recursive: true, force: true });
    }
  }

  async #run(task, command, options, flags) {
    const { call, rest } = split(options);
    const chosen = joined(this.#options, checked(rest));
    const { input, encoding = "utf8", maxBuffer = MOST_OUTPUT } = call;
    if (typeof maxBuffer !== "number" || !(maxBuffer >= 0)) throw new TypeError("`maxBuffer` is a number of bytes");
    const most = encoding === "buffer" ? maxBuffer : Math.min(maxBuffer, MAX_STRING_LENGTH);
    const stdio = call.stdio ?? [input === undefined ? "ignore" : "pipe", "pipe", "pipe"];
    const child = launch(task, command, chosen, { stdio, flags, signal: call.signal });
    let failure;
    child.on("error", (error) => (failure ??= error));
    const bound = (length) => {
      if (length > most && failure === undefined) {
        failure = new RangeError(`the output is longer than ${most} bytes (\`maxBuffer\`)`);
        child.kill("SIGKILL");
      }
    };
    child.stdin?.on("error", () => {});
    child.stdin?.end(input ?? "");
    const [left, stdout, stderr] = await Promise.all([child.ended, all(child.stdout, bound), all(child.stderr, bound)]);
    const text = (bytes) => (encoding === "buffer" ? bytes : bytes.toString(encoding));
    if (failure !== undefined) throw failure;
    if (left.error) throw !left.messages && stderr.length ? withText(left.error, stderr.toString("utf8")) : left.error;
    const result = { ...left, stdout: text(stdout), stderr: text(stderr), ...told(left.report) };
    delete result.error;
    return finished(result, chosen, call.check === true);
  }
}

/** Stockade's complaint about its own words stands on standard error. */
function withText(error, text) {
  const { message, hint } = parts(text);
  return new StockadeError(message, { hint, exitCode: error.exitCode });
}

function told(report) {
  const { status, limit, denials, suggestion, escalation } = report;
  return { status, limit, denials, suggestion, escalation };
}

function finished(result, options, isChecked) {
  if (result.status === "time_limit") throw new TimeoutExpired(result, options.timeout);
  if (isChecked && result.exitCode !== 0) {
    throw result.status === "permission_denied" ? new PermissionDenied(result) : new RunFailed(result);
  }
  return result;
}

function all(stream, bound) {
  if (!stream) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const pieces = [];
    let length = 0;
    stream.on("data", (piece) => {
      pieces.push(piece);
      bound((length += piece.length));
    });
    stream.on("error", reject);
    stream.on("close", () => resolve(Buffer.concat(pieces)));
  });
}

/** The options of one call, apart from those of its sandbox. */
function split(options) {
  const entries = Object.entries(options);
  const isOfCall = ([name]) => CALL.includes(name);
  return {
    call: Object.fromEntries(entries.filter(isOfCall)),
    rest: Object.fromEntries(entries.filter((entry) => !isOfCall(entry))),
  };
}

const anyone = new Sandbox();
const run = (command, args, options) => anyone.run(command, args, options);
const spawn = (command, args, options) => anyone.spawn(command, args, options);
const execCode = (code, options) => anyone.execCode(code, options);

module.exports = { Sandbox, run, spawn, execCode };
