//! `stockade doctor`: shows what this machine enforces.

use std::io::{self, Write};

use super::REFUSED;
use super::message::Failure;
use stockade::internal::find_control_group;
use stockade::{Error, Sandbox, Trace};
use stockade_plan::kernel::{self, Facts, Finding, Level};
use stockade_policy::profile;
use stockade_policy::profile::visible;

/// Prints what this machine enforces, first whether each shipped profile starts here; exit code 1 where runs can't start at all.
pub fn doctor(json: bool, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut facts = kernel::gather(find_control_group().map(|group| (group.path, group.counts)));
    let mut verdict = verdict(&facts);
    // A missing feature has its own line below, with a hint.
    if facts.findings.iter().any(|finding| finding.hint == verdict.hint) {
        verdict.hint = None;
    }
    facts.findings.insert(0, verdict);
    facts.findings.extend(reads());
    let printed = if json {
        serde_json::to_writer_pretty(&mut *out, &facts)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out))
    } else {
        print(&facts, out)
    };
    printed.map_err(|error| Failure::new(REFUSED, &error))?;
    let missing = facts.findings.iter().any(|finding| finding.level == Level::Missing);
    Ok(u8::from(missing))
}

/// Whether all shipped profiles hold here, and by which means. Each starts a shell once, as a run would.
fn verdict(facts: &Facts) -> Finding {
    let refused: Vec<(&str, Error)> = profile::SHIPPED
        .iter()
        .filter_map(|&(name, _)| Some((name, start(name).err()?)))
        .collect();
    let Some((_, error)) = refused.first() else {
        return Finding {
            level: Level::Ok,
            what: format!(
                "all {} shipped profiles hold here without a flag, by {}",
                profile::SHIPPED.len(),
                means(facts.landlock_abi)
            ),
            hint: None,
        };
    };
    let why = Failure::new(REFUSED, error).message;
    let (level, what) = if refused.len() == profile::SHIPPED.len() {
        (Level::Missing, format!("no shipped profile starts here: {why}"))
    } else {
        let names: Vec<_> = refused.iter().map(|(name, _)| format!("`{name}`")).collect();
        let names = names.join(", ");
        let what = format!("not every shipped profile starts here: {names} ({why})");
        (Level::Less, what)
    };
    Finding {
        level,
        what,
        hint: error.hint(),
    }
}

/// Who judges the reads of runs in the caller's directory, by a run that does nothing; `None` where none starts there.
fn reads() -> Option<Finding> {
    let here = std::env::current_dir().ok()?;
    let sandbox = Sandbox::profile("workspace").ok()?.root(here);
    let output = sandbox.command("/bin/sh").args(["-c", ":"]).no_input().output().ok()?;
    let enforcement = &output.outcome.report().enforcement;
    let left = enforcement.read_supervised.iter();
    let (what, hint) = match (&enforcement.kept_exact, enforcement.trace) {
        (Some(why), _) => (
            format!(
                "`workspace` here asks the supervisor about each read, which takes longer: {}",
                visible(why)
            ),
            Some("\"Native reads\" in docs/running.md says what helps".into()),
        ),
        (None, Trace::Marked) => {
            let left: Vec<String> = left.map(|why| visible(why).to_string()).collect();
            let but = if left.is_empty() {
                String::new()
            } else {
                format!(", but: {}", left.join("; "))
            };
            (format!("`workspace` here reads at the kernel's own speed{but}"), None)
        }
        (None, Trace::Exact) => return None,
    };
    let level = Level::Ok;
    Some(Finding { level, what, hint })
}

fn start(profile: &str) -> Result<(), Error> {
    // The caller's own directory for temporary files may be missing: the run reports that itself.
    let root = tempfile::tempdir()
        .or_else(|_| tempfile::tempdir_in("/var/tmp"))
        .map_err(Error::Surroundings)?;
    let sandbox = Sandbox::profile(profile)?.root(root.path());
    sandbox
        .command("/bin/sh")
        .args(["-c", ":"])
        .no_input()
        .output()
        .map(drop)
}

/// The means that confine a run on this Landlock, and those a newer one would take over: the table of docs/limits.md's "Older kernels".
fn means(landlock_abi: i32) -> String {
    let stand_ins: Vec<_> = [(3, "truncating"), (4, "TCP"), (6, "signals")]
        .into_iter()
        .filter_map(|(abi, what)| (landlock_abi < abi).then_some(what))
        .collect();
    match stand_ins.as_slice() {
        [] => "Landlock, seccomp and the supervisor".into(),
        few => format!(
            "Landlock, seccomp and the supervisor, which stands in for Landlock on {} (Linux 6.12 needs that no more)",
            few.join(", ")
        ),
    }
}

fn print(facts: &Facts, out: &mut dyn Write) -> io::Result<()> {
    let user = if facts.root { "root" } else { "an ordinary user" };
    writeln!(out, "Linux {} on {}, as {user}", facts.kernel, facts.architecture)?;
    for finding in &facts.findings {
        let mark = match finding.level {
            Level::Ok => "ok     ",
            Level::Less => "less   ",
            Level::Missing => "MISSING",
        };
        writeln!(out, "{mark}  {}", finding.what)?;
        if let Some(hint) = &finding.hint {
            writeln!(out, "         hint: {hint}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_supervisor_stands_in_for_is_said() {
        assert_eq!(means(6), "Landlock, seccomp and the supervisor");
        assert_eq!(
            means(3),
            "Landlock, seccomp and the supervisor, which stands in for Landlock on TCP, signals (Linux 6.12 needs \
             that no more)"
        );
    }
}
