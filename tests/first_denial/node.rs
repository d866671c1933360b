//! Node scripts.

use super::case::{Case, each_names_its_denial_first, in_thirds};
use crate::common::skipped;

const fn case(profile: &'static str, access: &'static str, target: &'static str, script: &'static str) -> Case {
    Case {
        profile,
        access,
        target,
        script,
    }
}

const CASES: &[Case] = &[
    case("minimal", "read", "@OUT/data.txt", "fs.readFileSync('@OUT/data.txt')"),
    case(
        "readonly",
        "read",
        "@OUT/data.txt",
        "fs.promises.readFile('@OUT/data.txt').catch(() => { console.error('no settings'); process.exit(1) })",
    ),
    case(
        "workspace",
        "read",
        "@OUT/data.txt",
        "fs.readFile('@OUT/data.txt', error => { process.exitCode = error ? 2 : 0 })",
    ),
    case(
        "workspace",
        "read",
        "@OUT/data.txt",
        "fs.createReadStream('@OUT/data.txt').on('error', () => process.exit(5)).resume()",
    ),
    case("minimal", "read", "@OUT/dir", "fs.readdirSync('@OUT/dir')"),
    case(
        "workspace",
        "read",
        "@OUT/dir",
        "(async () => { for await (const entry of await fs.promises.opendir('@OUT/dir')) console.log(entry.name) })()",
    ),
    case("workspace", "read", "@OUT/lib.js", "require('@OUT/lib.js')"),
    case(
        "readonly",
        "read",
        "@OUT/lib.js",
        "try { require('@OUT/lib') } catch { process.exit(1) }",
    ),
    case(
        "workspace",
        "read",
        "@OUT/project/node_modules/dependency.js",
        "require('module').createRequire('@OUT/project/main.js')('dependency')",
    ),
    case(
        "workspace",
        "read",
        "@OUT/config.ini",
        "for (const path of ['/etc/none.rc', process.env.HOME + '/.nonerc', '@OUT/none', '@OUT/config.ini'])
        { try { fs.readFileSync(path); process.exit(0) } catch {} } process.exit(1)",
    ),
    case(
        "filesystem",
        "read",
        "@OUT/data.txt",
        "require('child_process').execSync('cat @OUT/data.txt', { stdio: 'ignore' })",
    ),
    case(
        "filesystem",
        "read",
        "@OUT/data.txt",
        "fs.copyFileSync('@OUT/data.txt', os.tmpdir() + '/copied')",
    ),
    case(
        "readonly",
        "create",
        "@OUT/new.txt",
        "fs.writeFileSync('@OUT/new.txt', 'x')",
    ),
    case(
        "workspace",
        "write",
        "@OUT/data.txt",
        "fs.appendFileSync('@OUT/data.txt', 'x')",
    ),
    case(
        "workspace",
        "create",
        "@OUT/new.txt",
        "fs.promises.writeFile('@OUT/new.txt', 'x').catch(e => { console.log('failed', e.code); process.exit(3) })",
    ),
    case(
        "workspace",
        "create",
        "@OUT/app.log",
        "const log = fs.createWriteStream('@OUT/app.log', { flags: 'a' }); log.on('error', () => process.exit(1)); log.end('x')",
    ),
    case(
        "workspace",
        "create",
        "@OUT/made",
        "fs.mkdirSync('@OUT/made', { recursive: true })",
    ),
    case("workspace", "create", "@OUT/t-*", "fs.mkdtempSync('@OUT/t-')"),
    case("workspace", "delete", "@OUT/data.txt", "fs.unlinkSync('@OUT/data.txt')"),
    case("workspace", "delete", "@OUT/data.txt", "fs.rmSync('@OUT/data.txt')"),
    case("workspace", "delete", "@OUT/empty", "fs.rmdirSync('@OUT/empty')"),
    case(
        "workspace",
        "create",
        "@OUT/moved.txt",
        "fs.renameSync('mine.txt', '@OUT/moved.txt')",
    ),
    case(
        "workspace",
        "create",
        "@OUT/copy.txt",
        "fs.copyFileSync('mine.txt', '@OUT/copy.txt')",
    ),
    case(
        "workspace",
        "metadata",
        "@OUT/data.txt",
        "fs.chmodSync('@OUT/data.txt', 0o600)",
    ),
    case(
        "minimal",
        "metadata",
        "@OUT/data.txt",
        "fs.utimesSync('@OUT/data.txt', 1e9, 1e9)",
    ),
    case(
        "workspace",
        "create",
        "@OUT/link",
        "fs.symlinkSync('data.txt', '@OUT/link')",
    ),
    case(
        "workspace",
        "write",
        "@OUT/data.txt",
        "fs.truncateSync('@OUT/data.txt', 3)",
    ),
    case(
        "minimal",
        "execute",
        "@OUT/tool",
        "require('child_process').execFileSync('@OUT/tool')",
    ),
    case(
        "workspace",
        "execute",
        "@OUT/script.sh",
        "require('child_process').spawn('@OUT/script.sh').on('error', () => process.exit(1))",
    ),
    case(
        "workspace",
        "execute",
        "@OUT/tool",
        "process.exit(require('child_process').spawnSync('sh', ['-c', '@OUT/tool']).status)",
    ),
    case(
        "workspace",
        "socket",
        "@OUT/socket",
        "require('net').connect('@OUT/socket', () => process.exit(0)).on('error', () => process.exit(1))",
    ),
];

fn node_is_told_what_it_lacks(third: usize) {
    if std::process::Command::new("node").arg("--version").output().is_err() {
        skipped("node isn't installed");
        return;
    }
    each_names_its_denial_first(&["node", "-e"], CASES, third);
}

in_thirds!(node_scripts_are_told_what_they_lack, node_is_told_what_it_lacks);
