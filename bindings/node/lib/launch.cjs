// One start of `stockade run`, with the descriptors that it gets, and what it says at its end.
"use strict";

const childProcess = require("node:child_process");
const { serve } = require("./asking.cjs");
const { findBinary } = require("./binary.cjs");
const { CommandNotExecutable, CommandNotFound, StockadeError } = require("./errors.cjs");
const { variables, word, words } = require("./options.cjs");
const { parts } = require("./text.cjs");

/** More than any report or message has. */
const LONGEST = 64 * 1024 * 1024;
const [ASK, REPORT, MESSAGES] = [3, 4, 5];

/** Starts Stockade; the child has a promise `ended` of what the run left, which is never rejected. */
function launch(task, command, options, { stdio = "pipe", flags = [], signal } = {}) {
  if (!Array.isArray(command) || command.length === 0) throw new TypeError("a command is a program and its arguments");
  const line = [task, ...words(options), ...flags];
  let env;
  if (options.env !== undefined) {
    const given = variables(options.env);
    line.push(...given.flags);
    env = { ...process.env, ...given.passed };
  }
  const { ask = "never" } = options;
  const isAsked = typeof ask === "function";
  line.push(`--ask=${isAsked ? `fd:${ASK}` : word(ask)}`, `--report=fd:${REPORT}`, `--messages=fd:${MESSAGES}`);
  const standard = Array.isArray(stdio) ? [0, 1, 2].map((at) => stdio[at] ?? "pipe") : [stdio, stdio, stdio];
  const child = childProcess.spawn(findBinary(), [...line, "--", ...command.map(word)], {
    // Each `pipe` is one end of a pair of connected unix sockets.
    stdio: [...standard, isAsked ? "pipe" : "ignore", "pipe", "pipe"],
    env,
    signal,
  });
  if (isAsked) serve(child.stdio[ASK], ask);
  child.ended = ended(child, command);
  return child;
}

async function ended(child, command) {
  const [how, report, messages] = await Promise.all([
    new Promise((resolve) => {
      child.once("error", (error) => child.pid === undefined && resolve({ error }));
      child.once("exit", (code, signal) => resolve({ code, signal }));
    }),
    content(child.stdio[REPORT]),
    content(child.stdio[MESSAGES]),
  ]);
  child.stdio[ASK]?.destroy();
  const left = { command, messages, report: undefined, error: undefined, exitCode: how.code ?? null, signal: how.signal ?? null };
  if (how.error) return { ...left, error: new StockadeError(`Stockade can't be started: ${how.error.message}`) };
  try {
    if (report.trim()) left.report = readReport(JSON.parse(report));
  } catch (error) {
    left.error = new StockadeError(`the report can't be read: ${error.message}`, { exitCode: how.code });
  }
  if (left.report && left.report.status !== "time_limit") {
    // An exit code above 128 may be the program's own.
    if (left.report.exit_code !== null) Object.assign(left, { exitCode: left.report.exit_code, signal: null });
    else if (left.report.signal !== null) Object.assign(left, { exitCode: null, signal: left.report.signal });
  }
  if (!left.error && (!left.report || left.report.status === "not_started")) left.error = refusal(how, messages);
  return left;
}

function readReport(told) {
  if (told.version !== 1) throw new Error(`version ${String(told.version)} is unknown`);
  if (!Array.isArray(told.denials) || typeof told.status !== "string") throw new Error("it isn't complete");
  return told;
}

function refusal({ code, signal }, messages) {
  if (signal) return new StockadeError(`Stockade was ended by ${signal}, and the run with it`);
  const { message, hint } = parts(messages);
  const Kind = { 127: CommandNotFound, 126: CommandNotExecutable }[code] ?? StockadeError;
  return new Kind(message || `Stockade ended with exit code ${code}, without a report`, { hint, exitCode: code });
}

/** All that comes out of a stream, up to a bound. */
function content(stream) {
  if (!stream) return Promise.resolve("");
  return new Promise((resolve) => {
    const pieces = [];
    let length = 0;
    stream.on("data", (piece) => {
      length += piece.length;
      if (length <= LONGEST) pieces.push(piece);
    });
    stream.on("error", () => {});
    stream.on("close", () => resolve(Buffer.concat(pieces).toString("utf8")));
  });
}

module.exports = { launch };
