//! One script and what its report must say.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::common::{Finished, Place, STOCKADE, finish, python};

/// A script that needs one access which its profile doesn't give.
///
/// `@OUT` is a directory beside the root, with the files of [`FILES`].
pub struct Case {
    /// The profile, and flags after it.
    pub profile: &'static str,
    /// The kind of access; several are separated by `|` where the program may choose.
    pub access: &'static str,
    /// What it is to; `*` at the end stands for a name that the program makes up.
    pub target: &'static str,
    /// The script. It must end with another code than 0 when it is refused.
    pub script: &'static str,
}

/// What lies in the root and outside.
const FILES: &str = r#"
mkdir -p root/data out/dir out/empty out/modules out/project/node_modules
echo mine >root/mine.txt; echo mine >root/data/mine.txt; ln -s ../out/data.txt root/link
echo outside >out/data.txt; echo inner >out/dir/inner.txt; cp /bin/true out/tool
printf '#!/bin/sh\nexit 0\n' >out/script.sh; chmod +x out/script.sh; echo 'value=7' >out/lib.sh
echo 'VALUE = 7' >out/module.py; cp out/module.py out/modules/mymodule.py; printf '[main]\nvalue = 7\n' >out/config.ini
echo 'module.exports = 7;' >out/lib.js; cp out/lib.js out/project/node_modules/dependency.js
tar -C out -cf out/archive.tar data.txt dir; cp out/archive.tar root/archive.tar; gzip -k out/archive.tar
/usr/bin/python3 -c '
import sqlite3
connection = sqlite3.connect("out/app.db")
connection.executescript("create table t (n integer); insert into t values (7);")'
"#;

/// Files to copy from, and the place where the scripts run.
pub struct Cases {
    template: Place,
    place: Place,
    out: PathBuf,
}

/// Three tests of a list's cases, each of a third, so that they spread over the processors.
macro_rules! in_thirds {
    ($name:ident, $check:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn first() {
                $check(0)
            }

            #[test]
            fn second() {
                $check(1)
            }

            #[test]
            fn third() {
                $check(2)
            }
        }
    };
}

pub(super) use in_thirds;

/// Runs a third of the cases and says of each what is wrong with it.
pub fn each_names_its_denial_first(interpreter: &[&str], cases: &[Case], third: usize) {
    let all = Cases::new();
    let cases: Vec<&Case> = cases.iter().skip(third).step_by(3).collect();
    let faults: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let faults = all.faults_of(case, interpreter);
            let script = all.fill(case.script);
            (!faults.is_empty()).then(|| format!("[{}] {script}\n    {}", case.profile, faults.join("\n    ")))
        })
        .collect();
    assert!(
        faults.is_empty(),
        "{} of {} scripts:\n{}",
        faults.len(),
        cases.len(),
        faults.join("\n").replace(all.out.to_str().unwrap(), "@OUT")
    );
}

impl Cases {
    fn new() -> Cases {
        let (template, place) = (Place::new(), Place::new());
        let mut command = template.command("bash");
        command.args(["-euc", FILES]);
        let made = finish(&mut command, b"");
        assert!(made.status.success(), "the files are made: {}", made.stderr());
        Cases {
            out: place.root.parent().unwrap().join("out"),
            template,
            place,
        }
    }

    /// `@OUT` becomes the directory outside; the rest is as in [`Place::fill`].
    fn fill(&self, text: &str) -> String {
        self.place.fill(&text.replace("@OUT", self.out.to_str().unwrap()))
    }

    fn faults_of(&self, case: &Case, interpreter: &[&str]) -> Vec<String> {
        let script = self.fill(case.script);
        let mut bare = self.place.command(interpreter[0]);
        bare.env("TMPDIR", &self.place.home)
            .args(&interpreter[1..])
            .arg(&script);
        let bare = self.run(&mut bare);
        if !bare.status.success() {
            return vec![format!("fails unconfined, so it proves nothing: {}", told(&bare))];
        }
        let words: Vec<&str> = interpreter.iter().copied().chain([script.as_str()]).collect();
        let (confined, report) = self.confined(case, &[], &words);
        if confined.status.success() {
            return vec!["succeeds confined, without the access".into()];
        }
        let Some(report) = report else {
            return vec![format!("there is no report: {}", told(&confined))];
        };
        let mut faults = self.wrong_in(case, &report);
        let flags = flags_of(&report);
        if case.access != "socket" {
            faults.extend(
                self.broad(&flags)
                    .map(|flag| format!("the suggestion is too broad: {flag}")),
            );
            let (again, _) = self.confined(case, &flags, &words);
            if !again.status.success() {
                faults.push(format!("fails with {flags:?} too: {}", told(&again)));
            }
        }
        faults
    }

    /// Runs under the profile with further flags; the report, where there is one.
    fn confined(&self, case: &Case, flags: &[String], words: &[&str]) -> (Finished, Option<Value>) {
        let path = self.place.home.join("report.json");
        let _ = fs::remove_file(&path);
        let mut command = self.place.command(STOCKADE);
        command.args(["run", "--root"]).arg(&self.place.root);
        command.arg("--report").arg(&path).arg("--profile");
        command.args(case.profile.split(' ').map(|word| self.fill(word)));
        let finished = self.run(command.args(flags).arg("--").args(words));
        let report = fs::read(&path).ok();
        (finished, report.and_then(|text| serde_json::from_slice(&text).ok()))
    }

    /// Runs a command on fresh files, with somebody who listens at `@OUT/socket`.
    fn run(&self, command: &mut Command) -> Finished {
        let top = self.out.parent().unwrap();
        for name in ["root", "out"] {
            let _ = fs::remove_dir_all(top.join(name));
            fs::create_dir(top.join(name)).unwrap();
        }
        let copied = Command::new("cp")
            .arg("-a")
            .args(["root", "out"].map(|name| self.template.root.join(name)))
            .arg(top)
            .status();
        assert!(copied.unwrap().success(), "the files are copied");
        let _listener = UnixListener::bind(self.out.join("socket")).unwrap();
        finish(command, b"")
    }

    /// What is wrong in a report.
    fn wrong_in(&self, case: &Case, report: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        let first = &report["denials"][0];
        if first["explains"] != "yes" && first["explains"] != "perhaps" {
            faults.push(format!("the first denial isn't named: {first}"));
        }
        if (first["explains"] == "yes") != (report["status"] == "permission_denied") {
            faults.push(format!("the status is {}", report["status"]));
        }
        let access = first["access"].as_str().unwrap_or("none");
        let target = first["target"].as_str().unwrap_or("nothing");
        let wanted = self.fill(case.target);
        let is_target = match wanted.strip_suffix('*') {
            Some(start) => target.starts_with(start),
            None => target == wanted,
        };
        if !case.access.split('|').any(|one| one == access) || !is_target {
            let all: Vec<String> = report["denials"].as_array().into_iter().flatten().map(brief).collect();
            let wanted = format!("{} {wanted}", case.access);
            faults.push(format!(
                "the first denial is {access} {target}, expected {wanted}; all: {all:?}"
            ));
        }
        faults
    }

    /// The suggested places that hold more than the directory outside, or than one file.
    fn broad<'a>(&'a self, flags: &'a [String]) -> impl Iterator<Item = &'a String> {
        let is_narrow = |word: &String| {
            word.starts_with("--") || word.starts_with(self.out.to_str().unwrap()) || word.starts_with("/etc/")
        };
        flags.iter().filter(move |word| !is_narrow(word))
    }
}

/// The suggested flags, those of the likeliest candidate where no denial is certain to be the reason.
fn flags_of(report: &Value) -> Vec<String> {
    let suggestion = &report["suggestion"];
    let [all, first] = [&suggestion["flags"], &suggestion["candidates"][0]["flags"]].map(Value::as_array);
    let flags = all.filter(|flags| !flags.is_empty()).or(first);
    let words = flags.into_iter().flatten().filter_map(Value::as_str);
    words.map(str::to_owned).collect()
}

fn brief(denial: &Value) -> String {
    let word = |name: &str| denial[name].as_str().unwrap_or("?").to_string();
    format!("{} {} by {}", word("access"), word("target"), word("syscall"))
}

fn told(finished: &Finished) -> String {
    let text = format!("{}{}", finished.stdout(), finished.stderr());
    let last: Vec<&str> = text.lines().rev().take(3).collect();
    format!(
        "{}: {}",
        finished.status,
        last.into_iter().rev().collect::<Vec<_>>().join(" / ")
    )
}

/// The system's Python and Node.
pub fn python_words() -> [&'static str; 4] {
    [python(), "-I", "-B", "-c"]
}
