//! Compiles `object/preload.rs`, a freestanding shared library, for the target.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Without a C library, its start-up code and its startup's notes; symbols are looked up when they are first called, as a C
/// library may lack one.
const LINKED: [&str; 10] = [
    "-nostdlib",
    "-nostartfiles",
    "-Wl,-soname,stockade-preload",
    "-Wl,-z,lazy",
    "-Wl,--hash-style=both",
    "-Wl,--build-id=none",
    // Two parts to map, as each program maps them when it starts.
    "-Wl,-z,noseparate-code",
    "-Wl,-z,norelro",
    "-Wl,--no-rosegment",
    "-Wl,-s",
];

fn main() {
    println!("cargo::rerun-if-changed=object/preload.rs");
    println!("cargo::rerun-if-changed=src/mark.rs");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let variable = |name| env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let object = PathBuf::from(variable("OUT_DIR").expect("cargo sets it")).join("preload.so");
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
        ])
        .args(["-Aunused"])
        .arg("-o")
        .arg(&object);
    if let Some(target) = variable("TARGET") {
        rustc.arg("--target").arg(target);
    }
    if let Some(linker) = variable("RUSTC_LINKER") {
        let mut option = OsString::from("-Clinker=");
        option.push(linker);
        rustc.arg(option);
    }
    rustc.args(LINKED.map(|option| format!("-Clink-arg={option}")));
    let status = rustc.status().expect("the compiler starts");
    assert!(status.success(), "`object/preload.rs` isn't compiled");
}
