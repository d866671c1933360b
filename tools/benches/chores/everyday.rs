//! Everyday jobs, each a line of shell in a small project. Every row has its twin with `--trace exact`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One job: its row's name, its text, the programs that it needs, and the line.
pub struct Job {
    pub name: &'static str,
    pub exact: &'static str,
    pub what: &'static str,
    pub needs: &'static [&'static str],
    pub line: &'static str,
}

pub const JOBS: &[Job] = &[
    Job {
        name: "day-pytest",
        exact: "day-pytest-exact",
        what: "`pytest`, 60 tests in 12 files",
        needs: &["python3 -m pytest --version"],
        line: "python3 -m pytest -q -p no:cacheprovider tests",
    },
    Job {
        name: "day-npm",
        exact: "day-npm-exact",
        what: "`npm ci` of 20 packed packages, offline",
        needs: &["npm --version"],
        line: "cd web && npm ci --offline --no-audit --no-fund --silent --cache .cache",
    },
    Job {
        name: "day-sqlite",
        exact: "day-sqlite-exact",
        what: "sqlite, 4 processes with 40 transactions each",
        needs: &["python3 -c pass"],
        line: "rm -f data.db; python3 writers.py",
    },
    Job {
        name: "day-forks",
        exact: "day-forks-exact",
        what: "500 × fork, exec and wait",
        needs: &[],
        line: "i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i+1)); done",
    },
    Job {
        name: "day-threads",
        exact: "day-threads-exact",
        what: "200 threads, each reads 20 files",
        needs: &["python3 -c pass"],
        line: "python3 threads.py",
    },
    Job {
        name: "day-find",
        exact: "day-find-exact",
        what: "`find | xargs wc`, 2,000 files",
        needs: &[],
        line: "find files -type f -print0 | xargs -0 -n 50 wc -c",
    },
    Job {
        name: "day-files",
        exact: "day-files-exact",
        what: "10,000 small files written and removed",
        needs: &["python3 -c pass"],
        line: "python3 files.py",
    },
];

const WRITERS: &str = r#"
import os, sqlite3
base = sqlite3.connect("data.db", timeout=60)
base.execute("create table t (n integer, text text)")
base.commit()
base.close()
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        base = sqlite3.connect("data.db", timeout=60)
        base.execute("pragma synchronous = off")
        for n in range(40):
            with base:
                base.execute("insert into t values (?, ?)", (n, "x" * 100))
        os._exit(0)
    children.append(child)
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
assert sqlite3.connect("data.db").execute("select count(*) from t").fetchone() == (160,)
"#;

const THREADS: &str = r#"
import threading
def read(number):
    for n in range(20):
        with open(f"files/part{number % 20}/file{n}.txt") as file:
            file.read()
threads = [threading.Thread(target=read, args=(n,)) for n in range(200)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"#;

const FILES: &str = r#"
import os
os.mkdir("made")
for n in range(10_000):
    with open(f"made/{n}", "w") as file:
        file.write("a line\n")
for n in range(10_000):
    os.unlink(f"made/{n}")
os.rmdir("made")
"#;

/// The project that all jobs share.
pub fn project(place: &Path) -> io::Result<PathBuf> {
    let root = place.join("everyday");
    fs::create_dir_all(root.join("tests"))?;
    for (name, text) in [("writers.py", WRITERS), ("threads.py", THREADS), ("files.py", FILES)] {
        fs::write(root.join(name), text)?;
    }
    for number in 0..12 {
        let test = "import json, pathlib, pytest\n\
                    @pytest.mark.parametrize('n', range(5))\n\
                    def test_round(n, tmp_path):\n    \
                    path = tmp_path / 'a.json'\n    \
                    path.write_text(json.dumps({'n': n}))\n    \
                    assert json.loads(path.read_text())['n'] == n\n";
        fs::write(root.join(format!("tests/test_{number}.py")), test)?;
    }
    for part in 0..20 {
        let directory = root.join(format!("files/part{part}"));
        fs::create_dir_all(&directory)?;
        for number in 0..100 {
            fs::write(directory.join(format!("file{number}.txt")), "some text\n".repeat(20))?;
        }
    }
    packages(&root.join("web"))?;
    Ok(root)
}

/// A package that depends on twenty of the same directory, packed. Without npm there are none.
fn packages(web: &Path) -> io::Result<()> {
    const PACKAGES: usize = 20;
    fs::create_dir_all(web)?;
    let npm = |words: &str, directory: &Path| {
        let mut command = Command::new("npm");
        command.args(words.split(' ')).current_dir(directory);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let mut dependencies = Vec::new();
    for number in 0..PACKAGES {
        let package = web.join(format!("packages/part{number}"));
        fs::create_dir_all(package.join("lib"))?;
        let manifest = format!(r#"{{"name": "part{number}", "version": "1.0.0", "main": "lib/file0.js"}}"#);
        fs::write(package.join("package.json"), manifest)?;
        for file in 0..40 {
            fs::write(
                package.join(format!("lib/file{file}.js")),
                "module.exports = 1;\n".repeat(30),
            )?;
        }
        if !npm("pack --silent --pack-destination ../..", &package) {
            return Ok(());
        }
        dependencies.push(format!(r#""part{number}": "file:part{number}-1.0.0.tgz""#));
    }
    let manifest = format!(
        r#"{{"name": "web", "version": "1.0.0", "private": true, "dependencies": {{{}}}}}"#,
        dependencies.join(", ")
    );
    fs::write(web.join("package.json"), manifest)?;
    npm("install --offline --no-audit --no-fund --silent --cache .cache", web);
    Ok(())
}
