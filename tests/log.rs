//! `STOCKADE_LOG`: the stages of a run, and nothing that is secret.

use crate::common::{STOCKADE, run};

const STAGES: [&str; 9] = [
    "find the program",
    "policy",
    "reads",
    "plan",
    "prepare",
    "make rulesets and directories",
    "start",
    "launch",
    "conclude",
];

fn logged(level: &str) -> String {
    let run = run()
        .flags(["--env", "TOKEN=hidden-value"])
        .command(["sh", "-c", "echo hidden-argument"]);
    let mut command = run.place.command(STOCKADE);
    command
        .args(run.words())
        .env("STOCKADE_LOG", level)
        .env("OTHER", "hidden-other");
    let finished = crate::common::finish(&mut command, b"");
    assert_eq!(
        (finished.status.code(), &*finished.stdout()),
        (Some(0), "hidden-argument\n")
    );
    finished.stderr()
}

#[test]
fn each_stage_is_told_with_its_time_and_nothing_secret_is() {
    let text = logged("debug");
    let stages: Vec<&str> = text
        .lines()
        .filter_map(|line| {
            line.split(" ms ")
                .nth(1)?
                .trim_start()
                .split(':')
                .next()
                .filter(|_| line.ends_with(" ms"))
        })
        .collect();
    assert_eq!(stages, STAGES, "{text}");
    assert!(
        text.contains("run started") && text.contains("run ended status=completed"),
        "{text}"
    );
    for secret in ["hidden", "TOKEN", "OTHER", "echo"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[test]
fn a_level_leaves_out_what_is_below_it_and_a_wrong_one_is_told() {
    let text = logged("info");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert_eq!(logged("off"), "");
    assert_eq!(logged(""), "");
    let text = logged("lo\u{1b}ud");
    assert_eq!(
        text,
        "stockade: `STOCKADE_LOG` is ignored: `lo\\u{1b}ud` isn't off, error, warn, info, debug or trace\n"
    );
}
