// Carries out a plan that a model wrote: each step names a server of the gateway, a tool, and arguments.
interface Step {
  server: string;
  tool: string;
  args: Record<string, unknown>;
  saveAs?: string;
}

type Tool = (args: Record<string, unknown>) => Promise<unknown>;
declare const mcp: Record<string, Record<string, Tool>>;
declare const context: { plan: Step[] };

const results: Record<string, unknown> = {};

function substitute(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) => [
      key,
      typeof value === 'string' && value.startsWith('$') ? results[value.slice(1)] : value,
    ]),
  );
}

for (const { server, tool, args, saveAs } of context.plan) {
  const call = mcp[server]?.[tool];
  if (!call) throw new Error(`no tool ${server}.${tool}`);
  const result = await call(substitute(args));
  if (saveAs) results[saveAs] = result;
}

export default results;
