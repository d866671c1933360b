//! Compiles `object/preload.rs`, a freestanding shared library, for the target.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Without a C library, its start-up code and notes; symbols are looked up when they are first called, as a C library may lack
/// one; two parts to map, as each program maps them when it starts.
const LINKED: [&str; 10] = [
    "-soname=stockade-preload",
    "-z",
    "lazy",
    "-z",
    "noseparate-code",
    "-z",
    "norelro",
    "--hash-style=both",
    "--build-id=none",
    "-s",
];

fn main() {
    println!("cargo::rerun-if-changed=object/preload.rs");
    println!("cargo::rerun-if-changed=src/mark.rs");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let object = PathBuf::from(variable("OUT_DIR").expect("cargo sets it")).join("preload.so");
    // Rust's own linker links for every target. Not every distribution's Rust has it.
    let own = [
        "-Clinker=rust-lld",
        "-Clinker-flavor=ld.lld",
        "-Clink-arg=--no-rosegment",
    ];
    let own = own
        .into_iter()
        .map(String::from)
        .chain(LINKED.map(|option| format!("-Clink-arg={option}")));
    let machines = variable("RUSTC_LINKER").map(|linker| format!("-Clinker={}", linker.display()));
    let of_compiler = ["-nostdlib", "-nostartfiles"].map(|option| format!("-Clink-arg={option}"));
    let of_linker = LINKED.map(|option| format!("-Clink-arg=-Wl,{option}"));
    let machines = machines.into_iter().chain(of_compiler).chain(of_linker);
    assert!(
        compiles(&object, own) || compiles(&object, machines),
        "`object/preload.rs` isn't compiled"
    );
}

fn compiles(object: &Path, options: impl Iterator<Item = String>) -> bool {
    let mut rustc = Command::new(variable("RUSTC").expect("cargo sets it"));
    rustc
        .args([
            "object/preload.rs",
            "--crate-type=cdylib",
            "--crate-name=preload",
            "--edition=2024",
        ])
        .args([
            "-Copt-level=s",
            "-Cpanic=abort",
            "-Ccodegen-units=1",
            "-Cforce-unwind-tables=no",
        ])
        .args([
            "-Ctarget-feature=-crt-static",
            "-Crelro-level=partial",
            "-Cstrip=symbols",
            "-Aunused",
        ])
        .arg("-o")
        .arg(object)
        .args(options);
    if let Some(target) = variable("TARGET") {
        rustc.arg("--target").arg(target);
    }
    rustc.status().expect("the compiler starts").success()
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
