//! Which refusals a person is asked about while the program waits, and which grant is offered.

use std::path::Path;

use super::grant::{self, FlagGrant, GrantLimits, path_of};
use super::host::{endpoint_of, spellings};
use super::naming::names_on;
use super::probe::{Probe, ProbePlaces, probe};
use super::refusal::{Reason, Refusal};
use crate::policy::Kind;
use crate::policy::Policy;

/// The facts about a run that decide this.
#[derive(Debug)]
pub struct Setting<'a> {
    /// The run's grants at its start.
    pub policy: &'a Policy,
    /// The caller's home.
    pub home: Option<&'a Path>,
    /// The run's command.
    pub command: &'a [String],
    /// Whether the approver may open a guarded file.
    pub opens_guarded: bool,
}

/// The grants offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Exactly the refused access.
    pub exact: FlagGrant,
    /// A sensible wider grant in its place.
    pub wider: Option<FlagGrant>,
}

/// The offer for a refused access; `None` if no question is asked: no sensible grant would allow it, its target doesn't
/// exist, or programs try it at their start and don't need it.
pub fn offer(refusal: &Refusal, setting: &Setting<'_>) -> Option<Offer> {
    if let Some(guarded) = grant::opens_guarded(refusal).filter(|_| setting.opens_guarded) {
        return Some(Offer {
            exact: FlagGrant::Path(guarded),
            wider: None,
        });
    }
    let is_held_back = matches!(refusal.reason, Reason::Limited(_)) && refusal.kind.changes();
    let is_open = (refusal.reason == Reason::NotGranted || is_held_back) && can_wait(refusal.kind);
    let is_open = is_open && !is_apart(refusal) && !gives_another_name(refusal);
    if !is_open || needs_target(refusal.kind) && !refusal.exists {
        return None;
    }
    let grant_limits = GrantLimits::new(setting.policy, setting.home, setting.command);
    let exact = grant::exact(refusal, &grant_limits)?;
    if is_harmless_probe(refusal, setting) {
        return None;
    }
    // A grant needed in practice, such as the directory of a database, comes before a merely wider one.
    let usual = grant::least(refusal, &grant_limits).filter(|usual| !exact.covers(usual));
    let wider = usual.or_else(|| grant::wider(&exact, &grant_limits));
    Some(Offer { exact, wider })
}

/// The least grant for a refused access in practice; `None` if no grant would allow it.
pub fn usual_grant(refusal: &Refusal, setting: &Setting<'_>) -> Option<FlagGrant> {
    grant::least(
        refusal,
        &GrantLimits::new(setting.policy, setting.home, setting.command),
    )
}

/// Whether programs usually do without a refused access: they only look, try it at their start, or would find nothing
/// there. How the program takes it isn't known; that is for reports.
pub fn is_quiet(refusal: &Refusal, setting: &Setting<'_>) -> bool {
    const LOOKING: [&str; 4] = ["access", "faccessat", "faccessat2", "inotify_add_watch"];
    if LOOKING.contains(&&*refusal.syscall) || refusal.reason.is_of_devices() {
        return true;
    }
    if (needs_target(refusal.kind) || refusal.kind == Kind::Execute)
        && !refusal.exists
        && refusal.syscall != "bind"
        && path_of(&refusal.target).is_some()
    {
        return true;
    }
    let is_probe = match is_of_secret(refusal) {
        true => is_read_by_libraries(refusal),
        false => is_harmless_probe(refusal, setting),
    };
    is_probe || refreshes_an_index(refusal)
}

/// Whether a secret was to be read: a key in `~/.ssh` lies behind a dot and is needed all the same.
fn is_of_secret(refusal: &Refusal) -> bool {
    use crate::policy::DenialKind;
    let is_secret = |reason: &Reason| matches!(reason, Reason::Denied(denial) if denial.kind != DenialKind::Guarded);
    refusal.kind == Kind::Read && is_secret(&refusal.reason)
}

/// Secrets that libraries look into by themselves, whatever a program is asked to do.
fn is_read_by_libraries(refusal: &Refusal) -> bool {
    const NAMES: [&str; 8] = [
        ".netrc",
        "_netrc",
        ".npmrc",
        ".yarnrc.yml",
        ".pypirc",
        ".git-credentials",
        ".curlrc",
        ".pgpass",
    ];
    let name = path_of(&refusal.target)
        .and_then(Path::file_name)
        .and_then(|name| name.to_str());
    name.is_some_and(|name| NAMES.contains(&name))
}

/// `git status` takes this lock to store what it has found anyway, and does without; where git needs it, git says so.
fn refreshes_an_index(refusal: &Refusal) -> bool {
    refusal.kind == Kind::Create && refusal.target.ends_with(b"/index.lock")
}

/// Whether it can be done on behalf while the program waits. Starting a program can't.
fn can_wait(kind: Kind) -> bool {
    match kind {
        Kind::Read | Kind::Write | Kind::Create | Kind::Delete | Kind::Metadata => true,
        Kind::Connect | Kind::Listen | Kind::Socket => true,
        Kind::Execute | Kind::Resolve | Kind::Signal | Kind::Spawn | Kind::Syscall | Kind::Variable => false,
    }
}

/// The kernel's own trees have separate rules, and the placeholder home of a run without one is no place to write.
fn is_apart(refusal: &Refusal) -> bool {
    let trees = ["/dev", "/proc", "/sys", "/nonexistent"];
    path_of(&refusal.target).is_some_and(|path| trees.iter().any(|tree| path.starts_with(tree)))
}

/// If a file can't be hard-linked, programs copy it.
fn gives_another_name(refusal: &Refusal) -> bool {
    refusal.kind == Kind::Write && matches!(&*refusal.syscall, "link" | "linkat")
}

fn needs_target(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Read | Kind::Write | Kind::Delete | Kind::Metadata | Kind::Socket
    )
}

fn is_harmless_probe(refusal: &Refusal, setting: &Setting<'_>) -> bool {
    let command = setting.command.first().map_or("", String::as_str);
    let places = ProbePlaces {
        root: &setting.policy.root,
        home: setting.home,
        command: command.rsplit('/').next().unwrap_or_default(),
    };
    probe(refusal, &places) == Probe::Yes && !is_named(refusal, setting.command)
}

/// Whether the command line names it: then the person asked for it.
fn is_named(refusal: &Refusal, command: &[String]) -> bool {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let hosts = endpoint_of(refusal).map(|endpoint| spellings(refusal.kind, &endpoint));
    let names: Vec<String> = [text(&refusal.asked), text(&refusal.target)]
        .into_iter()
        .chain(hosts.into_iter().flatten())
        .filter(|name| !name.is_empty())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut arguments = command.iter().skip(1);
    arguments.any(|argument| names_on(argument, &names, refusal.kind))
}

#[cfg(test)]
mod tests {
    use super::super::tests::refusal;
    use super::*;
    use crate::policy::{Asks, NetworkPolicy};

    fn offered(kind: Kind, target: &str, command: &[&str]) -> Option<(String, Option<String>)> {
        offered_for(&refusal(kind, target), command)
    }

    fn offered_for(refusal: &Refusal, command: &[&str]) -> Option<(String, Option<String>)> {
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        let policy = Policy {
            profile: "minimal".into(),
            capabilities: crate::policy::Capabilities::USUAL,
            mode: crate::policy::Mode::AcceptEdits,
            root: "/home/ada/project".into(),
            grants: Vec::new(),
            denials: Vec::new(),
            reach: NetworkPolicy::Nothing,
            listen: Vec::new(),
            sockets: Vec::new(),
            environment: std::collections::BTreeMap::new(),
            scratch: false,
            limits: crate::profile::Limits::NONE,
            system_calls: Vec::new(),
            asks: Asks::All,
        };
        let setting = Setting {
            policy: &policy,
            home: Some(Path::new("/home/ada")),
            command: &command,
            opens_guarded: false,
        };
        let words = |grant: FlagGrant| {
            let words: Vec<_> = grant
                .words()
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            words.join(" ")
        };
        offer(refusal, &setting).map(|offer| (words(offer.exact), offer.wider.map(words)))
    }

    #[test]
    fn the_least_grant_is_offered_and_the_directory_or_the_host_where_that_is_sensible() {
        let python = ["python3", "a.py"];
        let some = |least: &str, wider: Option<&str>| Some((least.to_string(), wider.map(String::from)));
        assert_eq!(
            offered(Kind::Read, "/etc/hosts", &python),
            some("--read /etc/hosts", None)
        );
        assert_eq!(
            offered(Kind::Read, "/home/ada/project/data/a.csv", &python),
            some(
                "--read /home/ada/project/data/a.csv",
                Some("--read /home/ada/project/data")
            )
        );
        assert_eq!(
            offered(Kind::Create, "/home/ada/project/out.csv", &python),
            some("--write /home/ada/project/out.csv", Some("--write /home/ada/project"))
        );
        assert_eq!(
            offered(Kind::Connect, "api.example.com:443", &python),
            some("--host api.example.com", Some("--host api.example.com:*"))
        );
        assert_eq!(
            offered(Kind::Listen, "127.0.0.1:8080", &python),
            some("--listen 8080", None)
        );
    }

    #[test]
    fn no_question_is_asked_about_what_programs_do_without_unless_the_command_names_it() {
        assert_eq!(offered(Kind::Read, "/etc/machine-id", &["python3", "a.py"]), None);
        assert_eq!(
            offered(Kind::Read, "/home/ada/project/__pycache__/a.pyc", &["python3", "a.py"]),
            None
        );
        assert!(offered(Kind::Read, "/etc/machine-id", &["cat", "/etc/machine-id"]).is_some());
    }

    #[test]
    fn no_question_is_asked_about_what_programs_keep_for_themselves() {
        for (kind, target) in [
            (Kind::Read, "/etc/ldap/ldap.conf"),
            (Kind::Read, "/etc/openldap/ldap.conf"),
            (Kind::Read, "/tmp/hsperfdata_ada"),
            (Kind::Create, "/tmp/hsperfdata_ada"),
            (Kind::Create, "/tmp/hsperfdata_ada/12"),
            (Kind::Read, "/home/ada/.npm/x"),
            (Kind::Create, "/home/ada/.npm"),
            (Kind::Read, "/home/ada/.rustup/settings.toml"),
            (Kind::Write, "/home/ada/.rustup/settings.toml"),
        ] {
            assert_eq!(offered(kind, target, &["java", "-version"]), None, "{target}");
        }
        assert!(offered(Kind::Create, "/home/ada/project/npm", &["npm"]).is_some());
        assert!(offered(Kind::Create, "/home/ada/.npm", &["mkdir", "/home/ada/.npm"]).is_some());
        for kind in [Kind::Read, Kind::Create, Kind::Write, Kind::Metadata] {
            let target = "/nonexistent/.npm";
            assert_eq!(offered(kind, target, &["mkdir", target]), None, "{kind:?}");
        }
    }

    #[test]
    fn no_question_is_asked_about_the_new_name_of_a_link() {
        for (syscall, is_asked) in [("link", false), ("linkat", false), ("openat", true)] {
            let refusal = Refusal {
                syscall: syscall.into(),
                ..refusal(Kind::Write, "/home/ada/project/a")
            };
            assert_eq!(offered_for(&refusal, &["git"]).is_some(), is_asked, "{syscall}");
        }
    }

    #[test]
    fn no_question_is_asked_about_what_is_not_there_or_no_grant_opens() {
        let absent = Refusal {
            exists: false,
            ..refusal(Kind::Read, "/home/ada/project/none")
        };
        assert_eq!(offered_for(&absent, &["cat"]), None);
        let closed = Refusal {
            reason: Reason::Never("no".into()),
            ..refusal(Kind::Read, "/home/ada/project/a")
        };
        assert_eq!(offered_for(&closed, &["cat"]), None);
        for (kind, target) in [
            (Kind::Execute, "/home/ada/project/a"),
            (Kind::Write, "/etc/hosts"),
            (Kind::Read, "/proc/1/environ"),
            (Kind::Read, "/dev/sda"),
            (Kind::Write, "/home/ada"),
            (Kind::Connect, "169.254.169.254:80"),
            (Kind::Connect, "internet"),
            (Kind::Socket, "/run/docker.sock"),
        ] {
            assert_eq!(offered(kind, target, &["cat", target]), None, "{target}");
        }
    }
}
