//! The inner loops. The bench starts itself for them with a hidden argument, so that no compiler is needed and the
//! program is a static one whose own file every profile lets it read and execute.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Instant;

/// The hidden argument. `LOOP PATH COUNT` follow.
pub const HIDDEN: &str = "--inner";

/// Does one loop if the arguments ask for it, and prints the nanoseconds that it took.
pub fn run_if_asked() -> bool {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [hidden, which, path, count] = arguments.as_slice() else {
        return false;
    };
    if hidden != HIDDEN {
        return false;
    }
    let count = count.to_str().and_then(|count| count.parse().ok()).expect("a count");
    let body = match which.to_str() {
        Some("open") => open,
        Some("stat") => stat,
        Some("change") => change,
        _ => panic!("no such loop"),
    };
    let started = Instant::now();
    for _ in 0..count {
        body(Path::new(path));
    }
    println!("{}", started.elapsed().as_nanos());
    true
}

/// `path` is a file of at least 4 kB.
fn open(path: &Path) {
    let mut buffer = [0; 4096];
    let mut file = File::open(path).expect("the file can be opened");
    let got = file.read(&mut buffer).expect("the file can be read");
    assert_eq!(got, buffer.len(), "the file is too short");
}

fn stat(path: &Path) {
    fs::metadata(path).expect("the file is there");
}

/// `path` is a directory that may be written.
fn change(path: &Path) {
    let (first, second) = (path.join("first"), path.join("second"));
    let mut file = File::create(&first).expect("a file can be made");
    file.write_all(&[b'x'; 100]).expect("the file can be written");
    drop(file);
    fs::rename(&first, &second).expect("the file can be renamed");
    fs::remove_file(&second).expect("the file can be removed");
}
