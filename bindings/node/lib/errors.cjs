"use strict";

const { commandLine, describe, perhaps, visible } = require("./text.cjs");

/** Stockade couldn't do what it was asked for. The program didn't run, or the report of what it did is lost. */
class StockadeError extends Error {
  constructor(message, { hint, exitCode } = {}) {
    super(hint === undefined ? message : `${message}\n\nhint: ${hint}`);
    this.name = new.target.name;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** There is no such command. */
class CommandNotFound extends StockadeError {
  code = "ENOENT";
}

/** The command's file can't be executed. */
class CommandNotExecutable extends StockadeError {
  code = "EACCES";
}

/** With `check`: the run failed. The message lists the refusals that were perhaps the reason. */
class RunFailed extends Error {
  constructor(result, message) {
    const how = result.signal ? `was ended by ${result.signal}` : `ended with ${result.exitCode}`;
    const said = `\`${visible(result.command.join(" "))}\` ${how}\n${perhaps(result.denials)}`;
    super(message ?? said.trimEnd());
    this.name = new.target.name;
    this.result = result;
    this.denials = result.denials;
    this.suggestion = result.suggestion;
    this.hint = hintOf(result.suggestion);
  }
}

/** With `check`: the run failed, and a refusal explains it. */
class PermissionDenied extends RunFailed {
  constructor(result) {
    const causes = result.denials.filter((denial) => denial.explains === "yes");
    const lines = causes.slice(0, 3).map((denial) => `Permission denied: ${describe(denial)}`);
    const hint = hintOf(result.suggestion);
    super(result, [...lines, ...(hint ? ["", `hint: ${hint}`] : [])].join("\n") || "Permission denied");
  }
}

/** The run was ended past its `timeout`, with all its processes. */
class TimeoutExpired extends RunFailed {
  constructor(result, timeout) {
    super(result, `\`${visible(result.command.join(" "))}\` was ended after ${timeout} ms`);
    this.timeout = timeout;
  }
}

function hintOf(suggestion) {
  if (!suggestion) return undefined;
  const flags = commandLine(suggestion.flags);
  const profile = suggestion.profile ? `--profile ${suggestion.profile}` : "";
  return (flags && profile ? `${flags}, or more widely ${profile}` : flags || profile) || undefined;
}

module.exports = { StockadeError, CommandNotFound, CommandNotExecutable, RunFailed, PermissionDenied, TimeoutExpired };
