//! What an earlier run may have left in the root opens nothing to the next one.

use std::os::unix::fs::symlink;

use crate::common::{Run, python, run};

/// A root whose owner has secrets, named and private ones.
fn owner() -> Run {
    run()
        .file("~/.ssh/id_rsa", "KEY = 1\n")
        .file("~/.mozilla/k", "KEY")
        .file("~/private/doc", "KEY")
}

#[test]
fn a_script_that_is_a_link_out_of_the_root_is_not_read() {
    for secret in ["~/.ssh/id_rsa", "~/private/doc"] {
        let begun = owner();
        symlink(begun.place.path(secret), begun.place.path("main.py")).unwrap();
        let begun = begun.command([python(), "main.py"]).status(2);
        begun.stderr_has("Permission denied").ends();
    }
}

#[test]
fn a_script_that_is_a_secret_is_refused() {
    let begun = run().file("secrets/main.py", "print(1)\n");
    begun
        .command([python(), "secrets/main.py"])
        .status(125)
        .stderr_has("is a secret")
        .ends();
}

// promise: others.4
#[test]
fn a_shebang_line_names_no_further_files() {
    let fake = "#!/bin/bash\nfor f; do [ -f \"$f\" ] && cat \"$f\"; done\n";
    let begun = owner().program("awk", fake);
    let (fake, key, private) = (
        begun.place.path("awk"),
        begun.place.path("~/.ssh/id_rsa"),
        begun.place.path("~/private/doc"),
    );
    let line = format!(
        "#!/usr/bin/env -S {} -f {} -f {}\n",
        fake.display(),
        key.display(),
        private.display()
    );
    let unconfined = begun.place.program("build.sh", &line);
    let shown = std::process::Command::new(unconfined).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("KEY"));
    // The trap's own text may be shown; nothing of the owner's may.
    let ran = begun.command(["./build.sh"]).any_stdout().any_stderr().status(0).ends();
    assert!(!ran.stdout().contains("KEY"));
}

// promise: others.4
#[test]
fn links_where_an_installation_has_its_parts_open_nothing() {
    let begun = owner();
    let private = begun.place.path("~/private/doc");
    let mozilla = begun.place.path("~/.mozilla/k");
    let steal = format!("#!/bin/sh\ncat {} {}\ntrue\n", private.display(), mozilla.display());
    let begun = begun.program("m/shims/b", &steal);
    for (part, target) in [
        ("bin", &mozilla),
        ("lib", &private),
        ("installs", &private),
        ("plugins", &mozilla),
    ] {
        symlink(target.parent().unwrap(), begun.place.path(&format!("m/{part}"))).unwrap();
    }
    symlink("m/shims/b", begun.place.path("build")).unwrap();
    begun.command(["./build"]).stderr_has("Permission denied").ends();
}

#[test]
fn a_link_named_like_packages_opens_nothing() {
    let begun = owner();
    let private = begun.place.path("~/private/doc");
    symlink(private.parent().unwrap(), begun.place.path("node_modules")).unwrap();
    begun
        .program("node", "#!/bin/bash\ncat node_modules/doc\ntrue\n")
        .file("x.js", "")
        .command(["./node", "x.js"])
        .stderr_has("Permission denied")
        .ends();
}

#[test]
fn a_secret_is_one_in_capitals_too() {
    let begun = run()
        .file("data/A.PEM", "KEY")
        .file("data/.ENV", "KEY")
        .file("data/Secrets/x", "KEY");
    begun
        .profile("readonly")
        .bash("cat data/A.PEM data/.ENV data/Secrets/x; true")
        .stderr_has("Permission denied")
        .ends();
}
