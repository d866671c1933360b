//! The full report, for `stockade doctor`.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::Serialize;

use super::{Absence, Unsupervised};
use crate::plan::{Grouped, Shortfall, SupervisorAbility};
use stockade_sys::confine;

/// The machine's enforcement features.
#[derive(Debug, Clone, Serialize)]
pub struct Facts {
    /// The kernel's release.
    pub kernel: String,
    /// The architecture.
    pub architecture: &'static str,
    /// Whether the user is root.
    pub root: bool,
    /// Landlock's ABI, 0 if there is none.
    pub landlock_abi: i32,
    /// Numbers of Landlock's fixed errata.
    pub landlock_errata: Vec<u32>,
    /// Names of the seccomp actions that the kernel supports.
    pub seccomp_actions: Vec<&'static str>,
    /// The kernel's security modules in their order, if that can be read.
    pub security_modules: Option<String>,
    /// Yama's `ptrace_scope`, if Yama is there.
    pub yama_ptrace_scope: Option<u32>,
    /// Whether ordinary users may create user namespaces, as far as settings tell.
    pub user_namespaces: bool,
    /// The control group in which runs can have groups of their own.
    pub control_group: Option<PathBuf>,
    /// The controllers that the kernel provides there.
    #[serde(skip)]
    pub grouped: Grouped,
    /// The findings, good and bad.
    pub findings: Vec<Finding>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its severity.
    pub level: Level,
    /// The finding's text.
    pub what: String,
    /// The remedy.
    pub hint: Option<String>,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Some runs are refused, or limits are coarser.
    Less,
    /// No run starts.
    Missing,
}

/// Gathers all facts from the machine.
pub fn gather(control_group: Option<(PathBuf, Grouped)>) -> Facts {
    let landlock = super::landlock_abi();
    let mut facts = Facts {
        kernel: first_line("/proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".into()),
        architecture: std::env::consts::ARCH,
        root: nix::unistd::geteuid().is_root(),
        landlock_abi: *landlock.as_ref().unwrap_or(&0),
        landlock_errata: errata(),
        seccomp_actions: seccomp_actions(),
        security_modules: first_line("/sys/kernel/security/lsm"),
        yama_ptrace_scope: yama_ptrace_scope(),
        user_namespaces: user_namespaces(),
        grouped: control_group.as_ref().map_or(Grouped::Nothing, |(_, counts)| *counts),
        control_group: control_group.map(|(path, _)| path),
        findings: Vec::new(),
    };
    facts.findings = findings(&facts, landlock.err());
    facts
}

/// Yama's `ptrace_scope`, if Yama is there.
pub(super) fn yama_ptrace_scope() -> Option<u32> {
    first_line("/proc/sys/kernel/yama/ptrace_scope")?.parse().ok()
}

pub(super) fn first_line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.lines().next()?.trim().to_string())
}

/// Bit N-1 of the kernel's value is erratum N.
fn errata() -> Vec<u32> {
    let bits = confine::landlock_errata().unwrap_or(0);
    (0..31)
        .filter(|bit| bits & (1 << bit) != 0)
        .map(|bit| bit + 1)
        .collect()
}

fn seccomp_actions() -> Vec<&'static str> {
    const ACTIONS: &[(&str, u32)] = &[
        ("kill_process", 0x8000_0000),
        ("errno", 0x0005_0000),
        ("user_notif", 0x7fc0_0000),
        ("allow", 0x7fff_0000),
    ];
    ACTIONS
        .iter()
        .filter(|(_, action)| confine::seccomp_action_available(*action))
        .map(|(name, _)| *name)
        .collect()
}

fn user_namespaces() -> bool {
    let is = |path: &str, value: &str| first_line(path).is_some_and(|text| text == value);
    !is("/proc/sys/user/max_user_namespaces", "0")
        && !is("/proc/sys/kernel/unprivileged_userns_clone", "0")
        && !is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1")
}

fn findings(facts: &Facts, landlock: Option<io::Error>) -> Vec<Finding> {
    vec![
        landlock_finding(facts.landlock_abi, landlock),
        seccomp_finding(facts),
        supervisor_finding(facts.yama_ptrace_scope),
        control_group_finding(facts),
    ]
}

fn landlock_finding(abi: i32, error: Option<io::Error>) -> Finding {
    const WITH_MOVES: i32 = 2;
    const WITH_SCOPES: i32 = 6;
    match error.as_ref().map(Absence::of) {
        Some(absence) => Finding {
            level: Level::Missing,
            what: absence.what().into(),
            hint: Some(absence.hint()),
        },
        None if abi < WITH_MOVES => Finding {
            level: Level::Less,
            what: format!(
                "Landlock ABI {abi}: no moves or hard links between directories, and no signal scope, so the supervisor sends a \
                 run's signals"
            ),
            hint: Some("Linux 5.19 and later have the first, 6.12 and later both".into()),
        },
        None if abi < WITH_SCOPES => Finding {
            level: Level::Less,
            what: format!("Landlock ABI {abi}: no signal scope, so the supervisor sends a run's signals"),
            hint: Some("Linux 6.12 and later have it; there Landlock keeps signals in".into()),
        },
        None => Finding {
            level: Level::Ok,
            what: format!("Landlock ABI {abi}"),
            hint: None,
        },
    }
}

/// The remedy where filters can't be used.
pub const NO_SECCOMP: &str = "the kernel needs CONFIG_SECCOMP_FILTER, and a container's seccomp profile has to let \
                              `seccomp` through";

fn seccomp_finding(facts: &Facts) -> Finding {
    if !facts.seccomp_actions.contains(&"errno") {
        return Finding {
            level: Level::Missing,
            what: "seccomp filters can't be used here".into(),
            hint: Some(NO_SECCOMP.into()),
        };
    }
    Finding {
        level: Level::Ok,
        what: format!("seccomp with {}", facts.seccomp_actions.join(", ")),
        hint: None,
    }
}

/// What the shortfalls of a machine without supervisors would take away.
fn accepted() -> String {
    let signals = super::landlock_abi()
        .is_ok_and(|abi| abi < 6)
        .then_some(Shortfall::Signals);
    let all = [Some(Shortfall::Supervisor), signals];
    let lacks = |shortfall: Shortfall| {
        format!(
            "; accepted, the shortfall `{shortfall}` takes the promises {} away",
            shortfall.promises().join(", ")
        )
    };
    all.into_iter().flatten().map(lacks).collect()
}

fn supervisor_finding(yama_ptrace_scope: Option<u32>) -> Finding {
    if let Some(reason) = Unsupervised::find() {
        // Inside a run, the outer run's supervisor answers.
        let outer = super::supervisor() == SupervisorAbility::Outer;
        return Finding {
            level: Level::Less,
            what: match outer {
                true => "this is inside a run: the outer run's supervisor answers for those that start here".into(),
                false => format!("{}{}", reason.what(), accepted()),
            },
            hint: (!outer).then(|| reason.hint()),
        };
    }
    let yama = match yama_ptrace_scope {
        None => "Yama isn't there".to_string(),
        Some(scope) => format!("Yama's ptrace_scope is {scope}"),
    };
    Finding {
        level: Level::Ok,
        what: format!("seccomp user notification can be had ({yama})"),
        hint: None,
    }
}

fn control_group_finding(facts: &Facts) -> Finding {
    match &facts.control_group {
        Some(path) => Finding {
            level: Level::Ok,
            what: format!(
                "control groups can be made in {}: the kernel counts {}",
                path.display(),
                if facts.grouped.memory() {
                    "memory and processes"
                } else {
                    "processes, and memory is sampled"
                }
            ),
            hint: None,
        },
        None => Finding {
            level: Level::Less,
            what: "no control group is delegated: memory and processor time are sampled, and the supervisor counts \
                   processes"
                .into(),
            hint: Some("run in `systemd-run --user --scope -p Delegate=yes`".into()),
        },
    }
}
