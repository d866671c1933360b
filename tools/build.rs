//! Asks the linker for a smaller program, where it and the C library can: release builds alone.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each is tried by itself.
const OPTIONS: [&str; 2] = [
    // Functions of the same instructions become one: generic code that was compiled for several types.
    "-Wl,--icf=all",
    // Places to relocate as bits, not as 24 bytes each. A static program relocates itself, and the C library's code for
    // that knows this form since glibc 2.36: one linked with an older library would crash as it starts.
    "-Wl,-z,pack-relative-relocs",
];

/// Functions of the C library that Rust's library refers to weakly. Optimised as a whole, the program is one object in which
/// a call by anyone else is as weak, and a static C library's function that is only called so isn't linked: address 0
/// would be called.
const WEAK: [&str; 3] = ["copy_file_range", "gettid", "statx"];

/// Calls through a table of addresses, which have to be relocated.
const TRIAL: &str = r#"
static TABLE: [(&str, fn(usize) -> usize); 2] = [("one", |number| number + 1), ("two", |number| number + 2)];
fn main() {
    let arguments = std::env::args().count();
    println!("{} {}", TABLE[arguments].0, TABLE[arguments].1(arguments));
}
"#;

fn main() {
    println!("cargo::rerun-if-changed=tools/build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    for name in WEAK {
        println!("cargo::rustc-link-arg-bins=-Wl,--undefined={name}");
    }
    // What is built for another machine can't be tried here.
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") && env::var("HOST") == env::var("TARGET") {
        for option in OPTIONS.iter().filter(|option| works(option)) {
            println!("cargo::rustc-link-arg-bins={option}");
        }
    }
}

/// Whether a program that is linked with the option, and as ours else, starts.
fn works(option: &str) -> bool {
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let (source, program) = (directory.join("trial.rs"), directory.join("trial"));
    fs::write(&source, TRIAL).expect("the directory can be written");
    let linked = compiler(&source, &program)
        .arg(format!("-Clink-arg={option}"))
        .output()
        .is_ok_and(|output| output.status.success());
    linked
        && Command::new(program)
            .output()
            .is_ok_and(|output| output.status.success() && output.stdout == b"two 3\n")
}

/// rustc with the flags that cargo was given for this target.
fn compiler(source: &Path, program: &Path) -> Command {
    let variable = |name| env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let mut rustc = Command::new(variable("RUSTC").expect("cargo sets it"));
    rustc.arg(source).arg("-o").arg(program).arg("--edition=2024");
    if let Some(target) = variable("TARGET") {
        rustc.arg("--target").arg(target);
    }
    if let Some(linker) = variable("RUSTC_LINKER") {
        let mut option = OsString::from("-Clinker=");
        option.push(linker);
        rustc.arg(option);
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    rustc
}
