"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { StockadeError } = require("./errors.cjs");

/** The program that this package carries, or the one that `STOCKADE_BINARY` names. `PATH` isn't searched. */
function findBinary() {
  const named = process.env.STOCKADE_BINARY;
  const file = named ? path.resolve(named) : path.join(__dirname, "..", "bin", "stockade");
  try {
    if (!fs.statSync(file).isFile()) throw new Error("it isn't a file");
    fs.accessSync(file, fs.constants.X_OK);
  } catch (error) {
    throw named
      ? new StockadeError(`\`STOCKADE_BINARY\` is \`${named}\`, which isn't a program: ${error.message}`)
      : new StockadeError("this installation of the package carries no program `stockade`", {
          hint: "install the package of this machine's platform, or set `STOCKADE_BINARY` to a build of Stockade",
        });
  }
  return file;
}

module.exports = { findBinary };
