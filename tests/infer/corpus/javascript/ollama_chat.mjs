// Asks a model on this machine. Ollama listens on port 11434.
import http from 'node:http';

const OLLAMA = { host: 'localhost', port: 11434 };
const MODEL = 'llama3.2';

function post(path, payload) {
  const body = JSON.stringify(payload);
  return new Promise((resolve, reject) => {
    const req = http.request(
      { ...OLLAMA, path, method: 'POST', headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } },
      (res) => {
        const parts = [];
        res.on('data', (part) => parts.push(part));
        res.on('end', () => resolve(JSON.parse(Buffer.concat(parts).toString())));
      },
    );
    req.once('error', reject);
    req.end(body);
  });
}

const question = process.argv.slice(2).join(' ') || 'Why is the sky blue? One sentence.';
try {
  const { response } = await post('/api/generate', { model: MODEL, prompt: question, stream: false });
  console.log(response.trim());
} catch (error) {
  const codes = error.errors?.map((e) => e.code) ?? [error.code];
  console.error(`Ollama doesn't answer (${codes[0]}). Is it running?`);
  process.exit(69);
}
