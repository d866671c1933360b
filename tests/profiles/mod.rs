//! `stockade profile test`, `diff` and `schema`.

mod comparing;
mod own;
mod schema;
mod testing;

use std::path::Path;
use std::process::{Command, Output};

/// Runs `stockade profile …` at a home of the test's own.
fn profile(home: &Path, words: &[&str]) -> Output {
    Command::new(crate::common::STOCKADE)
        .arg("profile")
        .args(words)
        .current_dir(home)
        .env("HOME", home)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .output()
        .expect("stockade starts")
}

/// A profile of the user's, at that home.
fn write_profile(home: &Path, name: &str, lines: &str) {
    let directory = home.join(".config/stockade/profiles");
    std::fs::create_dir_all(&directory).unwrap();
    let head = format!("version = 1\nname = \"{name}\"\ndescription = \"d\"\n");
    std::fs::write(directory.join(format!("{name}.toml")), format!("{head}{lines}\n")).unwrap();
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
