// Drives a server with the official TypeScript library: calls tools, prints what came back.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const plan = JSON.parse(process.argv[2]);
const [command, ...args] = plan.command;
const capabilities = "elicit" in plan ? { elicitation: {} } : {};
const client = new Client({ name: "test", version: "1" }, { capabilities });
let asked = 0;
if ("elicit" in plan) {
  client.setRequestHandler(ElicitRequestSchema, async () => {
    asked += 1;
    return { action: "accept", content: { answer: plan.elicit } };
  });
}
await client.connect(new StdioClientTransport({ command, args, env: plan.env, cwd: plan.cwd }));
const { tools } = await client.listTools();
const results = [];
for (const [name, values] of plan.calls) {
  results.push(await client.callTool({ name, arguments: values }));
}
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name).sort(), results, asked }));
