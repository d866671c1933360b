//! Profiles with faults: where and what, and what was meant.

use std::fs;

use crate::bad_input::{left_nothing, refused};
use crate::common::run;

#[test]
fn a_broken_profile_is_refused_with_line_and_column() {
    let text = "version = 1\nname = \"own\"\ndescription = \"x\"\n\n[[red]]\npath = \"./\"\n";
    let ran = refused(run().file("own.toml", text))
        .profile("@ROOT/own.toml")
        .stderr_has("own.toml:5:")
        .stderr_has("`red`")
        .stderr_has("did you mean")
        .stderr_has("`read`")
        .ends();
    left_nothing(&ran);
}

#[test]
fn all_faults_of_a_profile_are_said_at_once() {
    let text = "version = 1\nname = \"own\"\ndescription = \"x\"\nscrach = true\n[limits]\nmemory = \"lots\"\n";
    refused(run().file("own.toml", text))
        .profile("@ROOT/own.toml")
        .stderr_has("own.toml:4:")
        .stderr_has("own.toml:6:")
        .ends();
}

#[test]
fn a_profile_that_is_no_toml_is_refused() {
    refused(run().file("own.toml", "version = = 1\n"))
        .profile("@ROOT/own.toml")
        .stderr_has("own.toml:1:")
        .ends();
    let begun = run();
    fs::write(begun.place.path("own.toml"), [0xff, 0xfe, 0x00]).unwrap();
    refused(begun).profile("@ROOT/own.toml").stderr_has("own.toml").ends();
}

#[test]
fn an_unknown_profile_is_refused_with_the_nearest_name() {
    refused(run())
        .profile("readnly")
        .stderr("stockade: no profile is called `readnly`\n\nhint: did you mean `readonly`?\n")
        .ends();
    refused(run()).profile("").any_stderr().ends();
    refused(run())
        .profile("./no-such.toml")
        .stderr_has("no-such.toml")
        .ends();
    refused(run()).profile("@ROOT").any_stderr().ends();
}

#[test]
fn profiles_in_a_circle_are_refused() {
    let one = "version = 1\nname = \"one\"\ndescription = \"x\"\nextends = \"two\"\n";
    let two = "version = 1\nname = \"two\"\ndescription = \"x\"\nextends = \"one\"\n";
    refused(
        run()
            .file("~/.config/stockade/profiles/one.toml", one)
            .file("~/.config/stockade/profiles/two.toml", two),
    )
    .profile("one")
    .stderr_has("circle")
    .ends();
}
