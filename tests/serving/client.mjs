// Drives `stockade mcp serve` by the official TypeScript SDKs: client.mjs MODE STOCKADE ROOT MODULES. MODE is `v1`, or a mode
// of the newer SDK: `legacy`, `auto`. Prints what each step answered.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [mode, stockade, root, modules] = process.argv.slice(2);
const require = createRequire(modules + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const [client, stdio, types] =
  mode === "v1"
    ? ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js", "@modelcontextprotocol/sdk/types.js"]
    : ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio", undefined];
const { Client } = await load(client);
const { StdioClientTransport } = await load(stdio);

const steps = {};
const asked = [];
let next;
const me = { name: "client", version: "1" };
const options = { capabilities: { elicitation: {} } };
if (mode === "auto") options.versionNegotiation = { mode: "auto" };
const session = new Client(me, options);
const elicit = async (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: { answer: next } };
};
session.setRequestHandler(types ? (await load(types)).ElicitRequestSchema : "elicitation/create", elicit);
await session.connect(
  new StdioClientTransport({ command: stockade, args: ["mcp", "serve", "--ceiling", "readonly", "--root", root], cwd: root }),
);

const call = (name, args, more) => {
  const params = { name, arguments: args };
  return mode === "v1" ? session.callTool(params, undefined, more) : session.callTool(params, more);
};
const told = (result) => ({
  error: result.isError ?? false,
  texts: result.content.filter((block) => block.type === "text").map((block) => block.text),
  links: result.content.filter((block) => block.type === "resource_link").map((block) => block.uri),
  data: result.structuredContent ?? null,
});

steps.version = session.getNegotiatedProtocolVersion?.() ?? null;
steps.tools = (await session.listTools()).tools.map((tool) => tool.name);
steps.allowed = told(await call("run_command", { argv: ["cat", "data/a.txt"] }));
next = "no";
steps.refused = told(await call("run_command", { argv: ["cp", "data/a.txt", "out.txt"] }));
next = "once";
steps.approved = told(await call("run_command", { argv: ["cp", "data/a.txt", "out.txt"] }));
next = "all-asked";
const before = asked.length;
const several = { command: "echo 1 > one; echo 2 > two", grants: { write: ["one", "two"] } };
steps.several = told(await call("run_command", several));
steps["several-questions"] = asked.length - before;
steps.progress = [];
const onprogress = (progress) => steps.progress.push(progress.progress);
await call("run_command", { argv: ["sleep", "1.3"] }, { onprogress });
const code = "print(open('data/a.txt').read())";
steps.script = told(await call("run_script", { language: "python", code }));
steps.infer = told(await call("infer_permissions", { language: "python", code }));
steps.check = told(await call("check", { command: "git status" }));
steps.explain = told(await call("explain_denial", { run: steps.refused.data.run }));
const report = await session.readResource({ uri: steps.refused.links[0] });
steps.report = JSON.parse(report.contents[0].text);
steps.wrong = told(await call("run_command", { argv: ["true"], profile: "trusted" }));

const stop = new AbortController();
setTimeout(() => stop.abort("enough"), 500);
steps.cancelled = await call("run_command", { argv: ["sleep", "4321"] }, { signal: stop.signal }).then(
  () => "answered",
  () => "cancelled",
);
await session.close();
steps.questions = asked;
process.stdout.write(JSON.stringify(steps));
