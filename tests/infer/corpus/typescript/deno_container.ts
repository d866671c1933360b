// deno run --allow-run=docker deno_container.ts: builds and starts the service's image.
const IMAGE = 'ledgerline:dev';

async function docker(...args: string[]): Promise<string> {
  const command = new Deno.Command('docker', { args, stdout: 'piped', stderr: 'inherit' });
  const { success, code, stdout } = await command.output();
  if (!success) {
    console.error(`docker ${args[0]} ended with ${code}`);
    Deno.exit(code);
  }
  return new TextDecoder().decode(stdout).trim();
}

await docker('build', '--tag', IMAGE, '.');
const id = await docker('run', '--detach', '--rm', '--publish', '8123:8123', IMAGE);
console.log(`container ${id.slice(0, 12)}`);

const state = JSON.parse(await docker('inspect', '--format', '{{json .State}}', id)) as { Status: string; Pid: number };
console.log(`${state.Status}, process ${state.Pid}`);
