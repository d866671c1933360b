// What code needs, from its text. Nothing of it runs.
"use strict";

const childProcess = require("node:child_process");
const { findBinary } = require("./binary.cjs");
const { StockadeError } = require("./errors.cjs");
const { parts } = require("./text.cjs");

/** What this code needs. */
function infer(code, { lang = "python", root } = {}) {
  return answer(["infer", "--json", `--lang=${lang}`, ...(root === undefined ? [] : [`--root=${root}`]), "--", "-"], code);
}

/** What the script in this file needs. */
function inferFile(file, { lang, root } = {}) {
  const flags = [...(lang === undefined ? [] : [`--lang=${lang}`]), ...(root === undefined ? [] : [`--root=${root}`])];
  return answer(["infer", "--json", ...flags, "--", file], "");
}

async function answer(words, input) {
  return JSON.parse(await output(words, input));
}

/** The output of a task that answers and runs nothing. */
function output(words, input, codes = [0]) {
  return new Promise((resolve, reject) => {
    const child = childProcess.execFile(findBinary(), words, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error ? error.code : 0;
      if (codes.includes(code)) return resolve(stdout);
      const { message, hint } = parts(stderr);
      reject(new StockadeError(message || error.message, { hint, exitCode: typeof code === "number" ? code : undefined }));
    });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

module.exports = { infer, inferFile, output };
