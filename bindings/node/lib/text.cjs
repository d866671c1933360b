"use strict";

/** A text of the untrusted program, as it may be shown to a person: on one line, escaped, and bounded. */
function visible(text, longest = 500) {
  // Controls, what changes the direction or has no width, private and unassigned characters, and all blanks but the space.
  const shown = String(text).replace(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);
  return shown.length <= longest ? shown : `${shown.slice(0, longest - 1)}…`;
}

/** The message and the hint of what Stockade said. */
function parts(messages) {
  const [message, ...rest] = messages.split("\nhint: ");
  const lines = message.split("\n").map((line) => line.replace(/^stockade: /, ""));
  return { message: lines.join("\n").trim(), hint: rest.join("\nhint: ").trim() || undefined };
}

/** The accesses in the words of Stockade's messages. */
const DOING = {
  read: "reading", write: "writing", create: "creating", delete: "deleting", metadata: "changing the attributes of",
  execute: "starting", connect: "connecting to", listen: "listening on", socket: "the socket", resolve: "looking up",
  signal: "sending a signal to", spawn: "making another", variable: "the variable", syscall: "the system call",
};

function doing({ access, target, syscall }) {
  if (access === "socket" && syscall === "socket") return `a ${visible(target)} socket`;
  if (access === "connect" && target === "internet") return "connecting to the internet";
  const isCall = access === "signal" && target === syscall;
  return `${DOING[isCall ? "syscall" : access]} \`${visible(target)}\``;
}

function reason({ rule }) {
  return rule === null ? "nothing grants it" : visible(rule.text);
}

/** The refusal in one line. */
function describe(denial) {
  const program = visible(denial.program.split("/").pop()) || `process ${denial.pid}`;
  return `\`${program}\` was refused ${doing(denial)} (${reason(denial)})`;
}

/** The list of those that were perhaps the reason, in the words of Stockade's messages; empty where none was. */
function perhaps(denials) {
  const lines = denials.filter((denial) => denial.explains === "perhaps").map((denial) => `\n  ${candidate(denial)}`);
  return lines.length ? `refused, perhaps the reason:${lines.join("")}` : "";
}

function candidate(denial) {
  if (denial.grant === null) return `${doing(denial)} (${reason(denial)})`;
  const flags = `: \`${commandLine(denial.grant)}\``;
  // A long target isn't said twice.
  const isShort = doing(denial).length + flags.length <= 68 || !denial.grant.includes(denial.target);
  return `${isShort ? doing(denial) : DOING[denial.access]}${flags}`;
}

/** Words as a POSIX shell reads them. */
function commandLine(words) {
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
  return words.map((word) => quoted(visible(word))).join(" ");
}

module.exports = { visible, parts, describe, perhaps, commandLine };
