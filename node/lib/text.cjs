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

/** The refusal in one line. */
function describe(denial) {
  const program = visible(denial.program.split("/").pop());
  const why = denial.rule === null ? "nothing grants it" : visible(denial.rule.text);
  return `\`${program}\` was refused: ${denial.access} \`${visible(denial.target)}\` (${why})`;
}

module.exports = { visible, parts, describe };
