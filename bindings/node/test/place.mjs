// A root and a home of a test's own; not below `/tmp`, which some profiles open.
import fs from "node:fs";
import path from "node:path";

export function place(context) {
  const top = fs.mkdtempSync("/var/tmp/stockade-test-");
  context.after(() => fs.rmSync(top, { recursive: true, force: true }));
  const [root, home] = [path.join(top, "root"), path.join(top, "home")];
  fs.mkdirSync(root);
  fs.mkdirSync(home);
  for (const name of Object.keys(process.env)) if (name.startsWith("XDG_")) delete process.env[name];
  process.env.HOME = home;
  process.chdir(root);
  context.after(() => process.chdir("/"));
  const file = (name, text = "text\n") => {
    fs.writeFileSync(path.join(root, name), text);
    return path.join(root, name);
  };
  return { root, home, file };
}

export const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));

export function isAlive(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop()[0] !== "Z";
  } catch {
    return false;
  }
}
