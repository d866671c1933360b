import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { Checker, No, StockadeError, Yes, check, execCode, infer, inferFile, run } from "stockade";
import { place, sleep } from "./place.mjs";

test("a yes makes the very call succeed", async (context) => {
  const path = place(context).file("asked.txt");
  const asked = [];
  const ask = async (request) => {
    asked.push(request);
    return new Yes("session", { reason: "fine" });
  };
  const result = await run("cat", [path], { ask });
  assert.equal(result.stdout, "text\n");
  assert.deepEqual([asked[0].access, asked[0].target, asked[0].grants], ["read", path, [["--read", path]]]);
  assert.deepEqual([result.escalation.requests[0].lifetime, result.escalation.requests[0].reason], ["session", "fine"]);
  assert.equal((await run("cat", [path], { ask: () => true })).escalation.requests[0].lifetime, "once");
});

test("all else is a no", async (context) => {
  const path = place(context).file("asked.txt");
  process.removeAllListeners("warning");
  process.on("warning", () => {});
  const fails = () => {
    throw new Error("broken");
  };
  const never = () => new Promise(() => {});
  for (const ask of [() => false, () => undefined, () => new No("not now"), () => 1, () => "yes", () => ({ lifetime: "once" }),
    () => new Yes("always"), () => new Yes("for ever"), fails, never]) {
    const result = await run("cat", [path], { ask, askTimeout: 400 });
    assert.deepEqual([result.stdout, result.status], ["", "permission_denied"], String(ask));
  }
  const result = await run("cat", [path], { ask: () => new No("not now") });
  assert.equal(result.escalation.requests[0].reason, "not now");
});

test("an answer that can't be looked at is a no, and ends nothing else", async (context) => {
  const path = place(context).file("asked.txt");
  process.removeAllListeners("warning");
  process.on("warning", () => {});
  const bare = () => {
    throw Object.create(null);
  };
  const hostile = {
    get reason() {
      throw new Error("getter");
    },
  };
  const yes = Object.defineProperty(new Yes(), "reason", { get: () => hostile.reason });
  for (const ask of [bare, () => hostile, () => yes, async () => Promise.reject(Object.create(null))]) {
    const began = Date.now();
    assert.equal((await run("cat", [path], { ask, askTimeout: 20_000 })).status, "permission_denied", String(ask));
    assert.ok(Date.now() - began < 10_000);
  }
});

test("a reason is bounded and whole characters, so a yes stays one", async (context) => {
  const path = place(context).file("asked.txt");
  for (const reason of ["\udcff", "x".repeat(3_000_000)]) {
    assert.equal((await run("cat", [path], { ask: () => new Yes("once", { reason }) })).stdout, "text\n");
  }
});

test("no other run changes the code", async (context) => {
  const { root } = place(context);
  const found = fs.mkdtempSync(path.join(os.tmpdir(), "beside-"));
  context.after(() => fs.rmSync(found, { recursive: true, force: true }));
  // Tries for as long as the code is there.
  const evil = `import glob, os, time
end = time.time() + 4
open(${JSON.stringify(found)} + "/ready", "w").write("x")
while time.time() < end:
    for file in glob.glob(${JSON.stringify(os.tmpdir())} + "/stockade-code-*/*"):
        for act in (lambda: open(file, "w").write("print('other')"), lambda: os.rename(os.path.dirname(file), file[:-8] + "x")):
            try: act()
            except OSError: pass
`;
  const script = path.join(root, "evil.py");
  fs.writeFileSync(script, evil);
  const other = run("python3", [script], { profile: "filesystem", write: os.tmpdir() });
  while (!fs.existsSync(path.join(found, "ready"))) await sleep(20);
  for (let at = 0; at < 5; at++) assert.equal((await execCode("print('mine')", { profile: "minimal" })).stdout, "mine\n");
  await other;
});

test("code runs with what its text needs, or under a profile", async (context) => {
  place(context).file("in.txt", "inside");
  const code = "print(open('in.txt').read())";
  assert.equal((await execCode(code)).stdout, "inside\n");
  assert.equal((await execCode(code, { profile: "minimal" })).status, "permission_denied");
  assert.equal((await execCode("console.log(process.argv[2])", { lang: "javascript", args: ["x"] })).stdout, "x\n");
  await assert.rejects(execCode("puts 1", { lang: "ruby" }), TypeError);
});

test("the needs of a text are told", async (context) => {
  const path = place(context).file("a.sh", "cat /etc/hosts\n");
  assert.deepEqual((await infer("open('/etc/hosts')")).reads, ["/etc/hosts"]);
  assert.equal((await inferFile(path)).language, "shell");
  await assert.rejects(inferFile("/no/such.py"), StockadeError);
});

test("a call is allowed, denied or asked, by one process for many", async (context) => {
  place(context);
  assert.equal((await check({ tool: "bash", command: "git status | head" })).allowed, true);
  assert.equal((await check({ tool: "bash", command: "git push" }, { ask: false })).decision, "deny");
  const checker = new Checker({ agent: "worker" });
  const commands = Array.from({ length: 40 }, (_, at) => (at % 2 ? "git push" : "git status"));
  const decisions = await Promise.all(commands.map((command) => checker.check({ tool: "bash", command })));
  assert.deepEqual(decisions.map(({ allowed }) => allowed), commands.map((command) => command === "git status"));
  await assert.rejects(checker.check({ tool: "bash", action: "read" }), StockadeError);
  checker.close();
  await assert.rejects(check({ tool: "bash", command: "ls" }, { rules: "no-such.toml" }), /no-such\.toml/);
});
