//! Small scripts and the acts that they come to.

use super::*;

/// The acts of a script, shortly: `read ./a`, `connect https://…`.
fn acts(source: &str, language: Language) -> Vec<String> {
    let found = read(source, language, &Setting::default());
    let mut all: Vec<String> = found.iter().map(|finding| short(&finding.act)).collect();
    all.dedup();
    all
}

fn short(act: &Act) -> String {
    match act {
        Act::Read(path) => format!("read {}", path.shown()),
        Act::Write(path) => format!("write {}", path.shown()),
        Act::Connect(target) => format!("connect {}", target.shown()),
        Act::Listen => "listen".into(),
        Act::Variable(name) => format!("variable {}", name.shown()),
        Act::Start(words) => {
            let words: Vec<String> = words.iter().map(|word| word.shown()).collect();
            format!("start {}", words.join(" "))
        }
        Act::Shell(line) => format!("shell {}", line.shown()),
        Act::Code(language, code) => format!("{} {}", language.name(), code.shown()),
        Act::Enter(path) => format!("enter {}", path.shown()),
        Act::Opaque(opaque) => format!("{opaque:?}"),
        Act::Back => "back".to_string(),
    }
}

fn check(cases: &[(&str, &[&str])]) {
    for (source, expected) in cases {
        assert_eq!(acts(source, Language::JavaScript), *expected, "{source}");
    }
}

#[test]
fn modules_are_followed_to_their_functions() {
    check(&[
        ("import fs from 'fs'; fs.readFileSync('a')", &["read a"]),
        (
            "import { readFile as rf } from 'node:fs/promises'; await rf('a')",
            &["read a"],
        ),
        ("import * as fs from 'fs'; fs.promises.writeFile('a', '')", &["write a"]),
        ("const { promises: fs } = require('fs'); fs.unlink('a')", &["write a"]),
        ("const fs = require('fs').promises; fs.readdir('.')", &["read ."]),
        ("const fs = await import('node:fs'); fs.statSync('a')", &["read a"]),
        (
            "import { createRequire } from 'module'; const r = createRequire(import.meta.url); r('fs').rmSync('a')",
            &["write a"],
        ),
        (
            "import axios from 'axios'; axios.get('https://a.example/x')",
            &["connect https://a.example/x"],
        ),
        ("require('v8').writeHeapSnapshot('a')", &["write a"]),
        ("require('inspector').open(9229)", &["listen"]),
        ("import x from 'unheard-of'; x()", &["UnknownModule(\"unheard-of\")"]),
        ("import './lib.js'", &["read .", "Unfollowed(\"./lib.js\")"]),
        ("const c = require('./c.json')", &["read ./c.json"]),
        ("require(name)", &["ComputedImport"]),
    ]);
}

#[test]
fn names_are_scoped() {
    check(&[
        ("function f(fetch) { fetch('https://a.example') } f(() => 1)", &[]),
        (
            "globalThis.fetch('https://a.example/')",
            &["connect https://a.example/"],
        ),
        ("// fs.readFileSync('a')\nconst s = 'fetch(1)'", &[]),
        ("function unused() { fetch('https://a.example/') }", &[]),
        ("if (false) fetch('https://a.example/')", &[]),
        (
            "if (require.main === module) fetch('https://a.example/')",
            &["connect https://a.example/"],
        ),
    ]);
}

#[test]
fn texts_are_folded() {
    let fs = "const fs = require('fs'), path = require('path'), os = require('os');";
    for (code, expected) in [
        ("fs.readFileSync('da' + `ta/${'x'}.csv`)", "read data/x.csv"),
        ("fs.readFileSync(path.join('data', 'a', '..', 'b'))", "read data/a/../b"),
        ("fs.readFileSync(path.join(__dirname, 'a'))", "read ./a"),
        ("fs.readFileSync(path.resolve('/etc', 'hosts'))", "read /etc/hosts"),
        ("fs.writeFileSync(path.join(os.tmpdir(), 'x'), '')", "write /tmp/x"),
        ("const [a, b = 'd'] = ['c']; fs.readFileSync(a + b)", "read cd"),
        ("const { p: { q } } = { p: { q: 'x' } }; fs.readFileSync(q)", "read x"),
        ("fs.readFileSync(['a', 'b'].join('/'))", "read a/b"),
        ("fs.readFileSync(Buffer.from('YS9i', 'base64').toString())", "read a/b"),
        (
            "fetch(new URL('/x', 'https://a.example/y'))",
            "connect https://a.example/x",
        ),
        ("fs.readFileSync('a.csv'.replace(/\\.csv$/, '.json'))", "read a.json"),
        ("class C { static P = 'p'; } fs.readFileSync(C.P)", "read p"),
    ] {
        assert_eq!(
            acts(&format!("{fs} {code}"), Language::JavaScript),
            [expected],
            "{code}"
        );
    }
}

#[test]
fn functions_are_followed_with_what_they_are_given() {
    let fs = "const fs = require('fs');";
    for (code, expected) in [
        ("function load(p) { return fs.readFileSync(p) } load('a')", "read a"),
        (
            "const mk = base => p => fs.readFileSync(base + p); mk('a/')('b')",
            "read a/b",
        ),
        (
            "class S { constructor(d) { this.d = d } load(n) { return fs.readFileSync(this.d + n) } } new S('a/').load('b')",
            "read a/b",
        ),
        (
            "class A { constructor(d) { this.d = d } } class B extends A { go() { fs.readFileSync(this.d) } } new B('a').go()",
            "read a",
        ),
        ("for (const p of ['a']) fs.readFileSync(p)", "read a"),
        ("['a'].forEach(p => fs.readFileSync(p))", "read a"),
        ("Promise.resolve('a').then(p => fs.readFileSync(p))", "read a"),
        ("setTimeout(() => fs.readFileSync('a'), 10)", "read a"),
        (
            "let p; if (Math.random()) p = 'a'; else p = 'a'; fs.readFileSync(p)",
            "read a",
        ),
        (
            "function* g() { yield 'a' } for (const p of g()) fs.readFileSync(p)",
            "read a",
        ),
        ("x.on('y', function () { z.readFileSync('a') })", "read a"),
    ] {
        assert_eq!(
            acts(&format!("{fs} {code}"), Language::JavaScript),
            [expected],
            "{code}"
        );
    }
}

#[test]
fn the_outside_is_seen() {
    check(&[
        ("process.env.TOKEN", &["variable TOKEN"]),
        ("const { A, B = 1 } = process.env", &["variable A", "variable B"]),
        ("const e = { ...process.env }", &["variable …"]),
        ("require('os').homedir()", &["variable HOME"]),
        ("require('child_process').execSync('ls -l')", &["shell ls -l"]),
        ("require('child_process').spawn('ls', ['-l'])", &["start ls -l"]),
        (
            "require('child_process').spawn('ls', ['-l'], { shell: true })",
            &["shell ls -l"],
        ),
        ("require('http').createServer(() => {}).listen(8080)", &["listen"]),
        (
            "require('https').get({ hostname: 'a.example', path: '/' })",
            &["connect https://a.example/"],
        ),
        ("require('net').connect(80, 'a.example')", &["connect a.example:80"]),
        (
            "fetch(process.argv[2] ?? 'https://a.example/')",
            &["connect …", "connect https://a.example/"],
        ),
        ("eval('1')", &["javascript 1"]),
        ("eval(x)", &["BuiltCode"]),
        ("new Function('a', b)", &["BuiltCode"]),
        ("require('fs')[x]('a')", &["ComputedName"]),
        ("require('fs')['read' + 'FileSync']('a')", &["read a"]),
        ("await Deno.readTextFile('a')", &["read a"]),
        ("await Bun.file('a').text()", &["read a"]),
        ("await mcp.filesystem.read({ path: 'a' })", &["read a"]),
        (
            "await mcp.api.get('https://a.example/')",
            &["connect https://a.example/"],
        ),
        (
            "import axios from 'axios'; const c = axios.create({ baseURL: 'https://a.example' }); c.get('/x')",
            &["connect https://a.example"],
        ),
    ]);
}

#[test]
fn types_are_nothing() {
    for source in [
        "import type { Stats } from 'unheard-of'; let s: Stats | null = null;",
        "import { Stats } from 'unheard-of'; function f(s: Stats): void {}",
        "interface F { fetch(a: string): void } declare const fetch2: F; type X = typeof fetch;",
    ] {
        assert_eq!(acts(source, Language::TypeScript), [""; 0], "{source}");
    }
    let source = "enum P { A = 'a' } class C { constructor(private p: string) {} go() { Deno.readTextFile(this.p) } } new C(P.A).go()";
    assert_eq!(acts(source, Language::TypeScript), ["read a"]);
}

#[test]
fn what_does_not_parse_is_said_with_its_place() {
    let found = acts("let a = 1;\nlet = = 2", Language::JavaScript);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("Unparsed(\"2:"), "{found:?}");
}

#[test]
fn hostile_texts_end() {
    let deep = |piece: &str| piece.repeat(100_000);
    let texts: Vec<String> = [
        "(",
        "[",
        "{",
        "-",
        "!",
        "`${",
        "a=>",
        "a?b:",
        "1+",
        "<a>",
        "if(a);else ",
        "a.",
        "await ",
    ]
    .iter()
    .map(|piece| deep(piece) + "1")
    .collect();
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    let read_all = move || {
        for text in &texts {
            read(text, Language::JavaScript, &Setting::default());
            read(text, Language::TypeScript, &Setting::default());
        }
    };
    thread.spawn(read_all).unwrap().join().unwrap();
}

#[test]
fn what_is_listed_stands_below_the_directory() {
    check(&[
        (
            "import fs from 'fs'; for (const name of fs.readdirSync('data')) fs.readFileSync('data/' + name)",
            &["read data", "read data/…"],
        ),
        (
            "import { readdir, readFile } from 'fs/promises'; import path from 'path';
            async function* walk(dir) {
                for (const entry of await readdir(dir, { withFileTypes: true })) {
                    const whole = path.join(entry.parentPath, entry.name);
                    if (entry.isDirectory()) yield* walk(whole); else yield whole;
                }
            }
            for await (const file of walk('data')) await readFile(file)",
            &["read data", "read data/…"],
        ),
        (
            "import fg from 'fast-glob'; import fs from 'fs';
            for (const file of await fg(['data/**/*.csv', '!**/x'])) fs.readFileSync(file)",
            &["read data", "read data/…"],
        ),
        (
            "import { globSync } from 'glob'; import fs from 'fs';
            globSync('*.md', { cwd: 'docs' }).slice(1).forEach((file) => fs.readFileSync('docs/' + file))",
            &["read docs/.", "read docs/./…"],
        ),
        (
            "import fs from 'fs'; fs.readdir('data', (e, all) => all.forEach((one) => fs.unlink('data/' + one, () => {})))",
            &["read data", "write data/…"],
        ),
    ]);
}

#[test]
fn names_that_are_computed_are_said_to_be() {
    check(&[
        ("import fs from 'fs'; fs[name]('a')", &["ComputedName"]),
        (
            "import fs from 'fs'; const f = fs[`${name}Sync`]; f.apply(null, ['a'])",
            &["ComputedName"],
        ),
        ("import fs from 'fs'; Object.values(fs)[0]('a')", &["ComputedName"]),
        ("import fs from 'fs'; Reflect.get(fs, 'rmSync')('a')", &["write a"]),
        ("import fs from 'fs'; new Proxy(fs, {}).rmSync('a')", &["write a"]),
        ("import chalk from 'chalk'; chalk[name]('a')", &[]),
        ("console[name]('a')", &[]),
        (
            "Function('return this')().fetch('https://a.example/')",
            &["javascript return this", "connect https://a.example/"],
        ),
    ]);
}

#[test]
fn names_that_are_declared_to_be_there_are_globals() {
    let source = "declare const mcp: any; await mcp.fs.write('a', 'b'); await mcp.filesystem.read_file({ path: 'c' })";
    assert_eq!(acts(source, Language::TypeScript), ["write a", "read c"]);
}

#[test]
fn values_that_are_changed_or_bound_are_followed() {
    check(&[
        ("import fs from 'fs'; fs.readFileSync.bind(null, 'a')()", &["read a"]),
        (
            "const o = {}; Object.assign(o, { url: 'https://a.example/' }); fetch(o.url)",
            &["connect https://a.example/"],
        ),
        (
            "const u = new URL('https://a.example/x'); u.hostname = name; fetch(u)",
            &["connect https://…/…"],
        ),
        ("import fs from 'fs'; fs.readFileSync(0); fs.writeSync(1, 'x')", &[]),
    ]);
}

#[test]
fn functions_that_are_handed_away_count() {
    check(&[
        (
            "import fs from 'fs'; Reflect.apply(fs.unlinkSync, fs, ['a'])",
            &["write a"],
        ),
        (
            "import fs from 'fs'; Function.prototype.call.call(fs.unlinkSync, fs, 'a')",
            &["write a"],
        ),
        (
            "import fs from 'fs'; const c = Function.prototype.call.bind(fs.unlinkSync); c(fs, 'a')",
            &["write a"],
        ),
        ("import fs from 'fs'; setTimeout(fs.unlinkSync, 1, 'a')", &["write a"]),
        (
            "import fs from 'fs'; process.nextTick(fs.unlinkSync, 'a')",
            &["write a"],
        ),
        ("import fs from 'fs'; Array.from(['a'], fs.unlinkSync)", &["write a"]),
        ("import fs from 'fs'; x.on('y', fs.unlinkSync)", &["write …"]),
        (
            "import fs from 'fs'; import E from 'events'; new E().emit('y', { f: [fs.unlinkSync] })",
            &["write …"],
        ),
        ("import { exec } from 'child_process'; x(exec)", &["shell …"]),
        ("import fs from 'fs'; x(fs); x.y(fs.constants)", &[]),
        ("import fs from 'fs'; ['a'].map(fs.readFileSync)", &["read a"]),
        (
            "import fs from 'fs'; import { promisify } from 'util'; promisify(fs.readFile)('a')",
            &["read a"],
        ),
        (
            "import fs from 'fs'; const load = (f, p) => f.readFileSync(p); load(fs, 'a')",
            &["read a"],
        ),
        ("import fs from 'fs'; console.log(fs.unlinkSync)", &[]),
    ]);
}
