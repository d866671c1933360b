//! Uses that need no grant: resources of every run, and files that programs look for at their start and do without.

use std::path::Path;

use super::observation::Use;
use super::used::RunContext;
use stockade_policy::policy::{Access, Matcher};
use stockade_report::report::Kind;

/// Settings of libraries and shells that are read if they exist, whatever the program.
const SETTINGS: [&str; 10] = [
    "/etc/gcrypt",
    "/etc/krb5.conf",
    "/etc/krb5.conf.d",
    "/etc/libnl",
    "/etc/malloc.conf",
    "/etc/nodejs",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/selinux",
    "/sys/fs/cgroup",
];

/// The files of name resolution. A run with granted hosts has its own.
const OF_NAMES: [&str; 3] = ["/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf"];

/// System calls that only check access.
const LOOKS: [&str; 3] = ["access", "faccessat", "faccessat2"];

/// Classifies uses that need no grant.
pub(super) struct Free<'a> {
    run_context: &'a RunContext<'a>,
    matcher: Matcher<'a>,
    uses: &'a [Use],
}

impl<'a> Free<'a> {
    pub(super) fn new(run_context: &'a RunContext<'a>, uses: &'a [Use]) -> Free<'a> {
        Free {
            run_context,
            matcher: Matcher::new(run_context.free),
            uses,
        }
    }

    /// Whether a use of a path needs no grant.
    pub(super) fn is_free(&self, used: &Use, path: &Path) -> bool {
        // A pipe or an unnamed file, opened through `/dev/fd`: the run made it.
        if !path.has_root() {
            return true;
        }
        let access = match used.access {
            Kind::Read => Access::READ,
            Kind::Execute => Access::EXECUTE,
            Kind::Socket => return !self.is_granted_socket(path),
            _ => Access::WRITE,
        };
        if access == Access::EXECUTE {
            let mut grants = self.run_context.free.grants.iter();
            return grants.any(|grant| grant.access.contains(access) && grant.covers(path));
        }
        self.matcher.decide(access, path).is_allowed()
            || is_kernels(path)
            || self.is_only_looked_at(used, path)
            || used.access == Kind::Read
                && (self.is_setting(path) || self.is_of_names(used) || self.is_probe(used, path))
    }

    /// The run's own sockets need no grant; others were granted by the ceiling.
    fn is_granted_socket(&self, path: &Path) -> bool {
        let mut sockets = self.run_context.policy.sockets.iter();
        sockets.any(|grant| path.starts_with(&grant.path))
    }

    /// Whether a use was only a check: programs ask whether they may write, and then don't.
    fn is_only_looked_at(&self, used: &Use, path: &Path) -> bool {
        is_of(used, &LOOKS) && (used.access != Kind::Read || path.is_dir())
    }

    fn is_setting(&self, path: &Path) -> bool {
        let is_named = || {
            let path = path.to_string_lossy();
            self.run_context.command.iter().any(|word| word.contains(&*path))
        };
        SETTINGS.iter().any(|setting| path.starts_with(setting)) && !is_named()
    }

    /// Whether these files were read to resolve hosts, and not for themselves.
    fn is_of_names(&self, used: &Use) -> bool {
        let looks_names_up = |other: &&Use| {
            matches!(other.access, Kind::Connect | Kind::Resolve) || other.target == "/etc/nsswitch.conf"
        };
        OF_NAMES.contains(&used.target.as_str())
            && used.processes.iter().all(|process| {
                let mut by_it = self.uses.iter().filter(|other| other.processes.contains(process));
                by_it.any(|other| looks_names_up(&other))
            })
    }

    /// Probes that runtimes make on their own, once in each process and by the full path: Python lists the script's directory
    /// before it imports anything, Node looks for a `package.json` from there upwards.
    fn is_probe(&self, used: &Use, path: &Path) -> bool {
        let is_once = used.count <= used.processes.len() as u64 && used.asked == used.target;
        let all_are = |name: &str| {
            used.programs
                .iter()
                .all(|program| program_name(program).starts_with(name))
        };
        if !is_once {
            return false;
        }
        let is_beside_a_script = self
            .run_context
            .scripts
            .iter()
            .any(|script| script.parent() == Some(path));
        let is_listed = is_beside_a_script || path == self.run_context.policy.root;
        is_listed && all_are("python") && !self.is_imported_from(path)
            || all_are("node") && path.file_name().is_some_and(|name| name == "package.json")
    }

    /// Whether Python read modules in a directory: it finds them by listing it.
    fn is_imported_from(&self, directory: &Path) -> bool {
        self.uses.iter().filter(|used| used.access == Kind::Read).any(|used| {
            let path = Path::new(&used.target);
            let is_module = path
                .extension()
                .is_some_and(|ending| ending == "py" || ending == "pyc" || ending == "so");
            is_module && path.starts_with(directory) && self.run_context.scripts.iter().all(|script| script != path)
        })
    }
}

/// Whether a use consists of these calls alone.
fn is_of(used: &Use, calls: &[&str]) -> bool {
    used.calls.iter().all(|call| calls.contains(&call.as_str()))
}

/// Files of the kernel about the process itself, and devices: no tree of a profile covers them.
fn is_kernels(path: &Path) -> bool {
    let mut parts = path.iter().skip(1).filter_map(|part| part.to_str());
    match (parts.next(), parts.next()) {
        (Some("dev"), _) => true,
        (Some("proc"), Some(name)) => name == "self" || name.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}

fn program_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
