import assert from "node:assert/strict";
import childProcess from "node:child_process";
import fs from "node:fs";
import { once } from "node:events";
import { createRequire } from "node:module";
import test from "node:test";
import * as stockade from "stockade";
import { CommandNotFound, PermissionDenied, RunFailed, Sandbox, StockadeError, TimeoutExpired, run, spawn } from "stockade";
import { isAlive, place, sleep } from "./place.mjs";

test("output, input and exit codes are as child_process has them", async (context) => {
  place(context);
  assert.equal((await run("cat", { input: "grüß" })).stdout, "grüß");
  assert.equal((await run("cat")).stdout, "");
  assert.deepEqual((await run("printf", ["\\351"], { encoding: "buffer" })).stdout, Buffer.from([0xe9]));
  for (const code of [1, 124, 125, 126, 127, 137]) assert.equal((await run("sh", ["-c", `exit ${code}`])).exitCode, code);
  const killed = await run("sh", ["-c", "kill -9 $$"]);
  assert.deepEqual([killed.exitCode, killed.signal], [null, "SIGKILL"]);
});

test("large input and output on both streams block nothing", async (context) => {
  place(context);
  const result = await run("sh", ["-c", "cat; head -c 3000000 /dev/zero >&2"], { input: "x".repeat(5_000_000) });
  assert.deepEqual([result.stdout.length, result.stderr.length], [5_000_000, 3_000_000]);
  await assert.rejects(run("yes", { maxBuffer: 100_000 }), RangeError);
  await assert.rejects(run("yes"), /longer than 67108864 bytes/);
  await assert.rejects(run("true", { maxBuffer: NaN }), TypeError);
});

test("a refusal is in the result with what would allow it", async (context) => {
  const path = place(context).file("closed.txt");
  const result = await run("cat", [path]);
  assert.equal(result.stderr, `cat: ${path}: Permission denied\n`);
  assert.deepEqual(result.denials[0].grant, ["--read", path]);
  assert.deepEqual([result.denials[0].explains, result.denials[0].usual], ["yes", false]);
  assert.equal((await new Sandbox().allowing(result.suggestion.flags).run("cat", [path])).stdout, "text\n");
  await assert.rejects(run("cat", [path], { check: true }), (error) => {
    assert.ok(error instanceof PermissionDenied && error.hint.includes(`--read ${path}`));
    assert.ok(error.message.includes(`Permission denied: \`cat\` was refused reading \`${path}\` (nothing grants it)`));
    return true;
  });
  await assert.rejects(run("false", { check: true }), (error) => error instanceof RunFailed && !(error instanceof PermissionDenied));
});

test("what was perhaps the reason is listed with what would allow it", async (context) => {
  const { file } = place(context);
  const [one, two] = [file("one"), file("a two")];
  const command = ["sh", ["-c", "cat one 'a two' 2>/dev/null; exit 3"]];
  const result = await run(...command);
  assert.deepEqual([result.status, ...result.denials.map(({ explains }) => explains)], ["completed", "perhaps", "perhaps"]);
  assert.deepEqual(result.suggestion.flags, []);
  assert.deepEqual(result.suggestion.candidates.map(({ flags }) => flags), [["--read", two], ["--read", one]]);
  await assert.rejects(run(...command, { check: true }), (error) => {
    assert.ok(error instanceof RunFailed && !(error instanceof PermissionDenied));
    const [how, ...told] = error.message.split("\n");
    assert.match(how, /ended with 3$/);
    assert.deepEqual(told, ["refused, perhaps the reason:", `  reading: \`--read '${two}'\``, `  reading: \`--read ${one}\``]);
    assert.ok(result.messages.includes(told.join("\n")));
    return true;
  });
});

test("a failure of the program's own blames no refusal", async (context) => {
  place(context);
  await assert.rejects(run("sh", ["-c", "exit 3"], { check: true }), (error) => {
    assert.ok(error instanceof RunFailed && error.suggestion === null && !error.message.includes("refused"));
    return true;
  });
});

test("what Stockade refuses to start is an error", async (context) => {
  place(context);
  await assert.rejects(run("no-such-program"), (error) => error instanceof CommandNotFound && error.code === "ENOENT");
  await assert.rejects(run("true", { profile: "no-such" }), /no profile is called `no-such`/);
  await assert.rejects(run("true", { net: "some" }), StockadeError);
  assert.throws(() => spawn("true", [], { shell: true }), TypeError);
  assert.throws(() => new Sandbox({ timeout: -1 }).spawn("true"), TypeError);
  assert.throws(() => new Sandbox().allowing(["--profile", "trusted"]), TypeError);
});

test("a name that the program chose is escaped", () => {
  assert.equal(stockade.visible("a\x1b[31m\u202eb\u200b\n"), "a\\u{1b}[31m\\u{202e}b\\u{200b}\\u{a}");
});

test("a run past its time, and one that is aborted, are ended with all their processes", async (context) => {
  place(context);
  await assert.rejects(run("sh", ["-c", "echo first; sleep 60 & sleep 60"], { timeout: 400 }), (error) => {
    assert.ok(error instanceof TimeoutExpired);
    assert.equal(error.result.stdout, "first\n");
    return true;
  });
  const controller = new AbortController();
  const running = run("sh", ["-c", "echo $$ > pid; sleep 60"], { write: ".", signal: controller.signal });
  while (!fs.existsSync("pid") || !fs.readFileSync("pid", "utf8")) await sleep(20);
  controller.abort();
  await assert.rejects(running, { name: "AbortError" });
  assert.equal(isAlive(Number(fs.readFileSync("pid", "utf8"))), false);
});

test("variables are set and passed, and their values stand in no command line", async (context) => {
  place(context);
  process.env.HIDDEN = "no";
  const child = spawn("sh", ["-c", 'echo "$API_KEY $HIDDEN"; cat'], { env: { API_KEY: "s3cret" } });
  const line = fs.readFileSync(`/proc/${child.pid}/cmdline`, "utf8");
  const [said] = await once(child.stdout, "data");
  assert.equal(String(said), "s3cret \n");
  assert.ok(!line.includes("s3cret"));
  child.stdin.end();
  child.stdout.resume();
  child.stderr.resume();
  assert.equal((await child.ended).report.status, "completed");
  assert.equal((await run("sh", ["-c", "echo $HIDDEN"], { env: ["HIDDEN"] })).stdout, "no\n");
});

test("the name of a variable holds no value, and language models take a real true", async (context) => {
  place(context);
  for (const env of [{ "A=B": "c" }, { "LC_X=Y": "c" }, { "": "c" }, ["A=B"], { "A\0": "c" }]) {
    await assert.rejects(run("true", { env }), TypeError);
  }
  for (const llm of ["no", 1, {}]) await assert.rejects(run("true", { llm }), TypeError);
  assert.equal((await run("true", { llm: false })).exitCode, 0);
});

test("the run inherits no descriptor", async (context) => {
  place(context);
  const code = "import os\nfor n in range(3, 200):\n try: os.fstat(n); print(n)\n except OSError: pass";
  assert.equal((await run("/usr/bin/python3", ["-c", code], { ask: () => false })).stdout, "");
});

test("killing a child ends all processes of its run", async (context) => {
  place(context);
  const child = spawn("sh", ["-c", "sleep 99 & echo $!; wait"]);
  const inner = Number((await once(child.stdout, "data"))[0]);
  assert.ok(isAlive(inner));
  child.kill("SIGKILL");
  child.stderr.resume();
  const ended = await child.ended;
  assert.ok(ended.error instanceof StockadeError);
  for (let tries = 0; tries < 100 && isAlive(inner); tries++) await sleep(20);
  assert.equal(isAlive(inner), false);
});

test("require gives the same as import", () => {
  const required = createRequire(import.meta.url)("stockade");
  assert.deepEqual(Object.keys(required).sort(), Object.keys(stockade).filter((name) => name !== "default").sort());
  assert.equal(required.run, run);
});

test("the package has the program, and STOCKADE_BINARY names another", async (context) => {
  place(context);
  assert.match(childProcess.execFileSync(stockade.findBinary(), ["--version"], { encoding: "utf8" }), /^stockade /);
  const before = process.env.STOCKADE_BINARY;
  process.env.STOCKADE_BINARY = "/no/such";
  context.after(() => (before === undefined ? delete process.env.STOCKADE_BINARY : (process.env.STOCKADE_BINARY = before)));
  await assert.rejects(async () => run("true"), StockadeError);
});
