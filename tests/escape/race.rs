//! The frame of a race: builds an attacker from `attackers/`, proves it unconfined, and holds it in a run.

use std::collections::HashMap;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::Mutex;

use crate::common::{Beside, Place, STOCKADE, finish, skipped, tries};

/// An attacker, its words but for the time, and what it finds.
pub struct Race<'a> {
    pub attacker: &'static str,
    pub words: &'a [&'a str],
    pub files: &'a [(&'a str, &'a str)],
    pub links: &'a [(&'a str, &'a str)],
    pub beside: &'a str,
}

impl Race<'_> {
    pub fn is_held(&self, profile: &str) {
        let Some(program) = built(self.attacker) else {
            return skipped("there is no C compiler, so there's no race");
        };
        let free = self.place(&program);
        let _beside = self.beside(&free);
        // Unconfined it may take its time: the machine may be busy.
        let mut command = free.command(free.path("attacker"));
        command.args(self.words).arg("20");
        let finished = finish(&mut command, b"");
        let said = finished.stdout();
        assert_eq!(
            said, "reached\n",
            "unconfined {:?}, so this proves nothing: {}",
            self.words, finished.status
        );

        let held = self.place(&program);
        let _beside = self.beside(&held);
        // How long it tries in a run, in seconds: until it has raced, and wasn't just refused everything.
        let has_raced = [tries("0.6", "2"), "3", "10"].iter().any(|seconds| {
            let mut command = held.command(STOCKADE);
            command.args(["run", "--profile", profile, "--root"]).arg(&held.root);
            command.args(["--", "./attacker"]).args(self.words).arg(seconds);
            let finished = finish(&mut command, b"");
            let said = finished.stdout();
            let counts: Vec<u64> = said
                .split_whitespace()
                .skip(1)
                .filter_map(|word| word.parse().ok())
                .collect();
            assert!(
                said.starts_with("held ") && counts.len() == 2,
                "{:?} under {profile}: {said}{}{}",
                self.words,
                finished.status,
                finished.stderr()
            );
            counts[0] > 0
        });
        assert!(has_raced, "{:?} under {profile}: nothing was allowed", self.words);
    }

    fn place(&self, program: &[u8]) -> Place {
        let place = Place::new();
        place.program("attacker", program);
        for (name, text) in self.files {
            place.file(name, text);
        }
        for (name, target) in self.links {
            symlink(target, place.path(name)).unwrap();
        }
        place
    }

    fn beside(&self, place: &Place) -> Option<Beside> {
        (!self.beside.is_empty()).then(|| Beside::new(place, &place.fill(self.beside)))
    }
}

/// The attacker's machine code, built once; none where there's no compiler.
fn built(attacker: &'static str) -> Option<Vec<u8>> {
    static BUILT: Mutex<Option<HashMap<&'static str, Vec<u8>>>> = Mutex::new(None);
    let mut built = BUILT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let built = built.get_or_insert_default();
    if !built.contains_key(attacker) {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join(attacker);
        let sources = crate::common::checkout().join("tests/escape/attackers");
        let status = Command::new("gcc")
            .args(["-O1", "-pthread", "-o"])
            .arg(&program)
            .arg(sources.join(attacker).with_extension("c"))
            .status()
            .ok()?;
        assert!(status.success(), "{attacker}.c can't be compiled");
        built.insert(attacker, std::fs::read(program).unwrap());
    }
    built.get(attacker).cloned()
}
