//! Node and npm.

use super::support::{Pair, installed, text_of};

const SCRIPT: &str = r#"const fs = require('fs'), os = require('os'), path = require('path');
const { execFileSync, spawnSync, fork } = require('child_process');
const { Worker } = require('worker_threads');
const crypto = require('crypto');

async function main() {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'script-'));
    fs.writeFileSync(path.join(directory, 'one'), 'text');
    fs.renameSync(path.join(directory, 'one'), path.join(directory, 'two'));
    fs.copyFileSync(path.join(directory, 'two'), path.join(directory, 'three'));
    console.log(fs.readdirSync(directory), fs.readFileSync(path.join(directory, 'two'), 'utf8'));
    fs.rmSync(directory, { recursive: true });
    console.log(execFileSync('echo', ['child']).toString(), spawnSync('sh', ['-c', 'exit 3']).status);
    console.log(crypto.createHash('sha256').update('a').digest('hex'), crypto.randomBytes(8).length);
    console.log(crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.type);
    const worker = new Worker("require('worker_threads').parentPort.postMessage(40 + 2)", { eval: true });
    console.log('worker', await new Promise((resolve) => worker.on('message', resolve)));
    const child = fork(path.join(__dirname, 'child.js'));
    console.log('child', await new Promise((resolve) => child.on('message', resolve)));
    console.log(await fs.promises.readFile(path.join(__dirname, 'child.js'), 'utf8'));
    process.exitCode = 6;
}
main();
"#;

#[test]
fn node_runs_under_minimal() {
    if installed(&["node"]) {
        let pair = Pair::new();
        pair.file(
            "alone.js",
            "console.log('alone', require('crypto').randomUUID().length)\n",
        );
        pair.succeeds(&["minimal", "readonly"], &["node", "-e", "0"]);
        pair.succeeds(&["minimal"], &["node", "alone.js"]);
        let script = "new (require('worker_threads').Worker)('console.log(1)', { eval: true })";
        pair.succeeds(&["minimal"], &["node", "-e", script]);
    }
}

#[test]
fn node_uses_files_children_threads_and_keys_under_filesystem() {
    if installed(&["node"]) {
        let pair = Pair::new();
        pair.file("script.js", SCRIPT)
            .file("child.js", "process.send('hello'); process.disconnect()\n");
        let ended = pair.same(
            &["filesystem", "workspace", "mcp-standard", "trusted"],
            &["node", "script.js"],
        );
        assert_eq!(ended.code, Some(6));
    }
}

#[test]
fn npm_installs_a_local_package_offline_under_workspace() {
    if !installed(&["npm", "node"]) {
        return;
    }
    let pair = Pair::new().with_home();
    let leaf = r#"{ "name": "leaf", "version": "1.2.3", "main": "main.js", "bin": { "leaf": "bin.js" } }"#;
    pair.file("leaf/package.json", leaf)
        .file("leaf/main.js", "module.exports = 41\n")
        .file(
            "leaf/bin.js",
            "#!/usr/bin/env node\nconsole.log('leaf', require('.'))\n",
        )
        .file("package.json", r#"{ "name": "app", "version": "1.0.0" }"#);
    pair.prepare(&["npm", "pack", "--silent", "--offline", "./leaf"]);
    let install = [
        "npm",
        "install",
        "--offline",
        "--no-audit",
        "--no-fund",
        "./leaf-1.2.3.tgz",
    ];
    for installed in [pair.run_bare(&install), pair.run_confined("workspace", &install)] {
        assert!(installed.status.success(), "{}", text_of(&installed));
    }
    pair.succeeds(&["workspace", "filesystem"], &["node", "-p", "require('leaf')"]);
    pair.succeeds(&["workspace", "filesystem", "minimal"], &["node_modules/.bin/leaf"]);
}
