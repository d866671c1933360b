// Whether a tool call may be made, before it is made.
"use strict";

const childProcess = require("node:child_process");
const { findBinary } = require("./binary.cjs");
const { StockadeError } = require("./errors.cjs");
const { output } = require("./inference.cjs");

const DECISIONS = ["allow", "deny", "confirm"];

/** Decides many calls with one process, which reads the configuration once. */
class Checker {
  #flags;
  #child;
  #waiting = new Map();
  #last = 0;

  constructor({ agent, root, rules, ask = true, audit } = {}) {
    const given = Object.entries({ agent, root, rules, audit }).filter(([, value]) => value !== undefined);
    this.#flags = [...given.map(([name, value]) => `--${name}=${value}`), ...(ask ? [] : ["--no-ask"])];
  }

  /** Decides one call. Rejects where it can't be decided, which is not an allow. */
  check({ tool, command, skill, action, path, host, cwd }) {
    const question = { tool: tool ?? (skill === undefined ? undefined : "skill_load"), command, skill_name: skill, action, path, host, cwd };
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const child = this.#running();
      this.#waiting.set(id, { resolve, reject });
      child.ref();
      child.stdin.write(`${JSON.stringify({ id, ...question })}\n`);
    });
  }

  /** Ends the process. The next check starts another. */
  close() {
    this.#child?.stdin.end();
    this.#child = undefined;
  }

  #running() {
    if (this.#child) return this.#child;
    const child = childProcess.spawn(findBinary(), ["check", "--batch", ...this.#flags], { stdio: ["pipe", "pipe", "ignore"] });
    this.#child = child;
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) this.#answered(line);
    });
    child.stdin.on("error", () => {});
    child.on("error", () => this.#lost(child));
    child.on("close", () => this.#lost(child));
    return child;
  }

  #answered(line) {
    let told;
    try {
      told = JSON.parse(line);
    } catch {
      return this.#child?.kill();
    }
    const waiting = this.#waiting.get(told.id);
    this.#waiting.delete(told.id);
    // A program may end although its checker is still open.
    if (this.#waiting.size === 0) this.#child?.unref();
    if (waiting === undefined) return this.#child?.kill();
    if (told.error !== undefined) return waiting.reject(new StockadeError(told.error));
    if (!DECISIONS.includes(told.decision)) return waiting.reject(new StockadeError("the decision is unknown"));
    const { id, ...decision } = told;
    waiting.resolve({ ...decision, allowed: told.decision === "allow" });
  }

  /** Rejects what still waits, with what is wrong with the flags, if that is why. */
  #lost(child) {
    if (this.#child === child) this.#child = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    if (waiting.length === 0) return;
    const reject = (error) => waiting.forEach((one) => one.reject(error));
    output(["check", "--batch", ...this.#flags], "", [0, 1]).then(
      () => reject(new StockadeError("`stockade check --batch` gave no answer")),
      reject,
    );
  }
}

/** Decides one call. */
async function check(question, options = {}) {
  const checker = new Checker(options);
  try {
    return await checker.check(question);
  } finally {
    checker.close();
  }
}

module.exports = { Checker, check };
