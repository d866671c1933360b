// Runs untrusted programs inside named permission profiles that the Linux kernel enforces.
"use strict";

const { Checker, check } = require("./judging.cjs");
const errors = require("./errors.cjs");
const { Yes, No } = require("./asking.cjs");
const { Sandbox, run, spawn, execCode } = require("./sandbox.cjs");
const { findBinary } = require("./binary.cjs");
const { infer, inferFile } = require("./inference.cjs");
const { visible } = require("./text.cjs");

module.exports = { Checker, Sandbox, Yes, No, check, execCode, findBinary, infer, inferFile, run, spawn, visible, ...errors };
