// The quick start of the README: its code prints what it says.
import assert from "node:assert/strict";
import childProcess from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { place } from "./place.mjs";

test("the quick start prints what it says", (context) => {
  const { root } = place(context);
  const installed = path.dirname(fileURLToPath(import.meta.resolve("stockade/package.json")));
  const text = fs.readFileSync(path.join(installed, "README.md"), "utf8");
  const [code, expected] = ["js", "text"].map((language) => new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(text)[1]);
  fs.mkdirSync(path.join(root, "node_modules"));
  fs.symlinkSync(installed, path.join(root, "node_modules", "stockade"));
  fs.writeFileSync(path.join(root, "start.mjs"), code);
  const said = childProcess.execFileSync(process.execPath, ["start.mjs"], { encoding: "utf8" });
  assert.equal(said, expected);
});
