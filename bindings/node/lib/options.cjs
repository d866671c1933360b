// The words of `stockade run` for the options of a sandbox.
"use strict";

const word = (value) => {
  if (typeof value !== "string") throw new TypeError(`expected a string, not ${typeof value}`);
  if (value.includes("\0")) throw new TypeError("a string with a zero byte can't be a word of a command");
  return value;
};
const place = (value) => (value instanceof URL ? require("node:url").fileURLToPath(value) : word(value));
const count = (value) => {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`expected a whole number, not ${String(value)}`);
  return String(value);
};
const time = (value) => {
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) {
    throw new TypeError(`a time is a positive number of milliseconds, not ${String(value)}`);
  }
  return `${Math.max(1, Math.ceil(value))}ms`;
};
const truth = (value) => {
  if (typeof value !== "boolean") throw new TypeError(`expected true or false, not ${typeof value}`);
  return value;
};
const variable = (name) => {
  if (word(name) === "" || name.includes("=")) throw new TypeError(`a variable can't be called ${JSON.stringify(name)}`);
  return name;
};
const size = (value) => (typeof value === "string" ? word(value) : `${count(value)}B`);

const SEVERAL = {
  read: place, write: place, exec: place, socket: place, deny: word, host: word, listen: count, cap: word, acceptShortfall: word,
};
const ONCE = {
  profile: place, root: place, agent: word, tool: word, net: word, mode: word, timeout: time, cpuLimit: time,
  memoryLimit: size, processLimit: count, openFilesLimit: count, fileSizeLimit: size, diskLimit: size, outputLimit: size,
  askTimeout: time, escalate: word, audit: word, trace: word, resolver: word,
};
const OTHERS = ["cwd", "env", "ask", "llm"];
const GRANTS = ["read", "write", "exec", "socket", "host", "listen", "env", "net"];

const list = (value) => (Array.isArray(value) ? value : [value]);
const flagOf = (name) => (name === "timeout" ? "--time-limit" : `--${name.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`)}`);

/** The options that are given. An unknown one is an error, since it may have been meant to forbid something. */
function checked(options) {
  const kept = Object.create(null);
  for (const [name, value] of Object.entries(options)) {
    if (!(Object.hasOwn(SEVERAL, name) || Object.hasOwn(ONCE, name) || OTHERS.includes(name))) {
      throw new TypeError(`there is no option \`${name}\``);
    }
    if (value !== undefined && value !== null) kept[name] = value;
  }
  if (kept.cwd !== undefined) {
    if (kept.root !== undefined) throw new TypeError("`cwd` is the same as `root`: give one of them");
    kept.root = kept.cwd;
    delete kept.cwd;
  }
  return kept;
}

function words(options) {
  const line = [];
  for (const [name, value] of Object.entries(options)) {
    if (Object.hasOwn(SEVERAL, name)) for (const one of list(value)) line.push(`${flagOf(name)}=${SEVERAL[name](one)}`);
    else if (Object.hasOwn(ONCE, name)) line.push(`${flagOf(name)}=${ONCE[name](value)}`);
    else if (name === "llm" && truth(value)) line.push("--llm");
  }
  return line;
}

const OWN = new Set(
  "PATH HOME USER LOGNAME SHELL TERM COLORTERM NO_COLOR LANG LANGUAGE TZ TMPDIR HOSTALIASES RES_OPTIONS LOCALDOMAIN".split(" "),
);
const OWN_BEGINNINGS = /^(STOCKADE_|XDG_|LD_|LC_|GLIBC_|MALLOC_|RUST_|SQLITE_)/;

/**
 * The flags for variables, and what Stockade's own environment gets for them: a value stands there, where other users can't
 * read it, unless Stockade itself would obey it.
 */
function variables(value) {
  if (typeof value === "string" || Array.isArray(value)) return { flags: list(value).map((name) => `--env=${variable(name)}`), passed: {} };
  const flags = [];
  const passed = {};
  for (const [name, text] of Object.entries(value)) {
    if (text === undefined) continue;
    variable(name);
    if (OWN.has(name) || OWN_BEGINNINGS.test(name)) flags.push(`--env=${name}=${word(text)}`);
    else {
      flags.push(`--env=${name}`);
      passed[name] = word(text);
    }
  }
  return { flags, passed };
}

/** Options for the flags of a denial or suggestion. */
function fromFlags(flags) {
  const names = new Map(GRANTS.map((name) => [flagOf(name), name]));
  const found = {};
  for (let at = 0; at < flags.length; at += 2) {
    const name = names.get(flags[at]);
    if (name === undefined || flags[at + 1] === undefined) throw new TypeError(`these words aren't grants: ${flags.join(" ")}`);
    const value = name === "listen" ? Number(flags[at + 1]) : flags[at + 1];
    if (name === "net") found.net = value;
    else (found[name] ??= []).push(value);
  }
  return found;
}

/** These options with more grants; what isn't a list is replaced. */
function joined(options, more) {
  const result = { ...options };
  for (const [name, value] of Object.entries(more)) {
    const before = result[name];
    if (before === undefined) result[name] = value;
    else if (name === "env") result.env = joinedVariables(before, value);
    else result[name] = Object.hasOwn(SEVERAL, name) ? [...list(before), ...list(value)] : value;
  }
  return result;
}

function joinedVariables(before, more) {
  const isNames = (value) => typeof value === "string" || Array.isArray(value);
  if (isNames(before) !== isNames(more)) throw new TypeError("`env` is either values or names: give the values of all");
  return isNames(before) ? [...list(before), ...list(more)] : { ...before, ...more };
}

module.exports = { checked, words, variables, fromFlags, joined, word };
