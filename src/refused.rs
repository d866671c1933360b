//! The message after a run that failed because of a refusal: five lines at most.
//!
//! Names are chosen by the target. Each is escaped here: a line end in one must not begin a line of Stockade's.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::Path;

use super::message::Failure;
use stockade::LeftBehind;
use stockade::policy::{git_directory, is_powerful_socket};
use stockade::profile::visible;
use stockade::report::{Denial, Kind, Report};
use stockade_text::quote::{command_line, quoted};
use stockade_text::visible::fit;

/// The message; `None` where no denial explains a failure. `file` is where the report goes.
pub fn explanation(report: &Report, file: Option<&OsStr>) -> Option<Failure> {
    let explaining: Vec<&Denial> = report.explanation().collect();
    if report.signal.as_deref() == Some("SIGSYS") {
        return Some(Failure::text(0, FOREIGN_CALL).hint("use the program's build for this architecture"));
    }
    if explaining.is_empty() && wants_temporary_files(report) {
        return Some(Failure::text(0, unsure(report, file)).hint(TEMPORARY_FILES));
    }
    // Each file that stayed closed is named by itself.
    if explaining.is_empty() && report.unsure && report.closed_files().is_empty() && count(report) > 0 {
        return Some(Failure::text(0, unsure(report, file)));
    }
    let (first, others) = explaining.split_first()?;
    // It is only printed: the exit code is the run's own.
    let mut failure = Failure::text(0, sentence(first));
    failure.details.extend(also(first, others));
    failure.details.extend(more(report, explaining.len(), file));
    let kept: Vec<&Denial> = report
        .explanation()
        .filter(|denial| denial.is_of_closed_file())
        .collect();
    failure.hint = hint(report).or_else(|| (!kept.is_empty()).then(|| openings(&kept)));
    Some(failure)
}

/// The filter kills a process that uses another architecture's system calls: the supervisor gets no notification.
const FOREIGN_CALL: &str =
    "the program was ended by SIGSYS: it probably made system calls of another architecture (32-bit)";

/// `` `python3` was refused reading `/etc/hosts` (nothing grants it) ``.
pub fn sentence(denial: &Denial) -> String {
    format!(
        "`{}` was refused {} ({})",
        program(denial),
        access_in_short(denial),
        reason(denial)
    )
}

/// What is said after a run, whatever its exit code, that was refused changing guarded files or secrets: each of the first
/// with its rule, and how it is opened. `None` where an explanation has named all of them.
pub fn kept(report: &Report) -> Option<Failure> {
    const SHOWN: usize = 3;
    let kept = report.closed_files();
    let explained = report.explanation().filter(|denial| denial.is_of_closed_file()).count();
    let (first, others) = kept.split_first()?;
    if explained == kept.len() && !kept.iter().any(|denial| denial.stopped_git()) {
        return None;
    }
    let mut failure = Failure::text(0, sentence(first));
    let others = others.iter().take(SHOWN - 1);
    failure
        .details
        .extend(others.map(|denial| format!("also {} ({})", access_in_short(denial), reason(denial))));
    if kept.len() > SHOWN {
        failure
            .details
            .push(format!("{} more{}", kept.len() - SHOWN, where_listed(None)));
    }
    if let Some(denial) = kept.iter().find(|denial| denial.stopped_git()) {
        failure.details.push(half_done(denial));
    }
    failure.hint = Some(openings(&kept));
    Some(failure)
}

/// Whether a run was refused a host that it asked for without a setting of the user's.
pub fn is_explained_by(report: &Report, left: &LeftBehind) -> bool {
    let is_to = |denial: &Denial, host: &str| {
        let rest = denial.target.strip_prefix(host);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    let mut of_hosts = report
        .denials
        .iter()
        .filter(|denial| matches!(denial.access, Kind::Connect | Kind::Resolve));
    of_hosts.any(|denial| left.hosts.iter().any(|host| is_to(denial, host)))
}

fn half_done(denial: &Denial) -> String {
    let target = shortened(&visible(&denial.target));
    format!("git was stopped at `{target}`; `git status` shows what it had changed, and the way back")
}

/// The ways to open what a run was refused.
fn openings(kept: &[&Denial]) -> String {
    let flag = kept.iter().find_map(|denial| denial.grant.as_ref());
    match flag {
        Some(words) => format!(
            "for one command: `{}`; at a terminal Stockade asks; for good: `[secrets] open` in `config.toml`",
            command_line(words)
        ),
        None if kept.iter().any(|denial| is_of_git(denial)) => "change it yourself, outside of a run".into(),
        None => "only your configuration opens it: `[secrets] open` in `config.toml`, by its path".into(),
    }
}

fn is_of_git(denial: &Denial) -> bool {
    git_directory(Path::new(&denial.target)).is_some()
}

/// Further refusals that explain it, on one line.
fn also(first: &Denial, others: &[&Denial]) -> Option<String> {
    let others: Vec<String> = others
        .iter()
        .map(|denial| {
            let why = if denial.rule == first.rule {
                String::new()
            } else {
                format!(" ({})", reason(denial))
            };
            format!("{}{why}", access_in_short(denial))
        })
        .collect();
    (!others.is_empty()).then(|| format!("also {}", others.join(", ")))
}

/// How many refusals a message counts.
fn count(report: &Report) -> u64 {
    let counted = report.denials.iter().filter(|denial| !is_of_terminal(denial));
    counted.count() as u64 + report.denials_dropped
}

/// Every interactive shell tries to set its terminal's size, and goes on without.
fn is_of_terminal(denial: &Denial) -> bool {
    denial.syscall == "ioctl" && denial.target == "terminal" && !denial.explains
}

/// The message if it is unknown which refusal it was, or whether it was one.
fn unsure(report: &Report, file: Option<&OsStr>) -> String {
    let count = count(report);
    let refused = if count == 1 {
        "access was refused"
    } else {
        "accesses were refused"
    };
    format!(
        "{count} {refused}, possibly the reason for the failure{}",
        where_listed(file)
    )
}

/// Further refusals: a few are named with the grants that would allow them; for more, the message says where they are listed.
fn more(report: &Report, shown: usize, file: Option<&OsStr>) -> Option<String> {
    const FEW: u64 = 2;
    let count = count(report).saturating_sub(shown as u64);
    if count == 0 {
        return None;
    }
    let refusals = if count == 1 { "refusal" } else { "refusals" };
    let others: Vec<String> = report
        .denials
        .iter()
        .filter(|denial| !denial.explains && !is_of_terminal(denial))
        .map(with_grant)
        .collect();
    let which = match count <= FEW && others.len() as u64 == count {
        true => format!(": {}", others.join(", ")),
        false => where_listed(file),
    };
    Some(format!("{count} more {refusals}{which}"))
}

fn with_grant(denial: &Denial) -> String {
    let grant = denial
        .grant
        .as_ref()
        .map(|flags| format!(" (`{}`)", command_line(flags)));
    access_in_short(denial) + &grant.unwrap_or_default()
}

fn where_listed(file: Option<&OsStr>) -> String {
    match file {
        Some(file) if !file.as_encoded_bytes().starts_with(b"fd:") => format!(": `stockade explain {}`", quoted(file)),
        Some(_) => " in the report".to_string(),
        None => ": `--report FILE` writes them, `stockade explain FILE` shows them".to_string(),
    }
}

fn hint(report: &Report) -> Option<String> {
    let has_flags = report
        .suggestion
        .as_ref()
        .is_some_and(|suggestion| !suggestion.flags.is_empty());
    if !has_flags && report.explanation().any(wants_network) {
        return Some(NO_NETWORK.into());
    }
    if !has_flags && report.explanation().any(wants_powerful_socket) {
        return Some(POWERFUL_SOCKET.into());
    }
    if !has_flags && let Some(port) = report.explanation().find_map(lowest_port) {
        let other = u32::from(port) + 8000;
        return Some(format!(
            "let the program listen on a port from 1024 on, and grant it: `--listen {other}`, for example"
        ));
    }
    if wants_temporary_files(report) {
        return Some(TEMPORARY_FILES.into());
    }
    let suggestion = report.suggestion.as_ref()?;
    match (&suggestion.flags[..], &suggestion.profile) {
        ([], None) => None,
        ([], Some(profile)) => Some(format!("`--profile {profile}` would allow it")),
        (flags, None) => Some(format!("to allow it: `{}`", command_line(flags))),
        (flags, Some(profile)) => Some(format!(
            "to allow it: `{}`, or more widely `--profile {profile}`",
            command_line(flags)
        )),
    }
}

/// Without a socket the program's destination can't be seen.
pub const NO_NETWORK: &str = "the run has no network: add `--host NAME:PORT` for each host (ports 80 and 443 need no \
                              `:PORT`), or `--listen PORT` for a port of its own";

/// A grant of one of the places that the program tries wouldn't do for the next program.
const TEMPORARY_FILES: &str = "the program looks for a directory for temporary files: `--profile readonly` has one, and so \
                               have the wider profiles";

/// Whether a program was refused making files in each of the places that are left where `TMPDIR` names none, as Python's
/// `tempfile` tries them.
fn wants_temporary_files(report: &Report) -> bool {
    let made_in = |directory: &'static str, denial: &Denial| {
        denial.access == Kind::Create && Path::new(&denial.target).parent() == Some(Path::new(directory))
    };
    if report.exit_code == Some(0) {
        return false;
    }
    let mut all = report.denials.iter().filter(|denial| made_in("/tmp", denial));
    let in_other = |pid| {
        let mut all = report.denials.iter().filter(|denial| denial.pid == pid);
        all.any(|denial| made_in("/var/tmp", denial))
    };
    all.any(|denial| in_other(denial.pid))
}

/// No line to paste: it would be for people who don't know what the socket permits.
const POWERFUL_SOCKET: &str = "the server of this socket acts outside the sandbox: every profile closes it, and only \
                               `--socket` with its path opens it";

/// Whether a program was refused a socket whose server carries out commands.
fn wants_powerful_socket(denial: &Denial) -> bool {
    denial.access == Kind::Socket && is_powerful_socket(Path::new(&denial.target))
}

/// The refused port, if the kernel reserves it for the administrator.
fn lowest_port(denial: &Denial) -> Option<u16> {
    let port = denial.target.parse::<SocketAddr>().ok()?.port();
    let is_kept = denial.access == Kind::Listen && denial.rule.is_some() && denial.grant.is_none();
    (is_kept && (1..1024).contains(&port)).then_some(port)
}

/// Whether a program was refused an internet socket of any kind.
pub fn wants_network(denial: &Denial) -> bool {
    denial.access == Kind::Connect && denial.target == "internet" && denial.capability.is_none()
}

/// The program's name without its directory.
fn program(denial: &Denial) -> String {
    let name = Path::new(&denial.program).file_name().unwrap_or_default();
    match name.to_string_lossy() {
        name if name.is_empty() => format!("process {}", denial.pid),
        name => shortened(&visible(&name)),
    }
}

/// The refused access, `` reading `/etc/hosts` ``; `target` is escaped for the reader.
pub fn access(denial: &Denial, target: &str) -> String {
    match denial.access {
        // Some calls that act on processes send no signal.
        Kind::Socket if denial.syscall == "socket" => format!("a {target} socket"),
        Kind::Signal if denial.target == denial.syscall => format!("{} `{target}`", Kind::Syscall.doing()),
        Kind::Connect if denial.target == "internet" => "connecting to the internet".into(),
        does => format!("{} `{target}`", does.doing()),
    }
}

fn access_in_short(denial: &Denial) -> String {
    let target = shortened(&visible(&denial.target));
    if leads_elsewhere(denial) {
        return format!("connecting to `{}` at `{target}`", shortened(&visible(&denial.asked)));
    }
    access(denial, &target)
}

/// Whether a host name resolved to the refused address.
fn leads_elsewhere(denial: &Denial) -> bool {
    let is_address = |text: &str| text.parse::<SocketAddr>().is_ok();
    let has_name = !denial.asked.is_empty() && !is_address(&denial.asked);
    denial.access == Kind::Connect && is_address(&denial.target) && has_name
}

/// The reason, in brackets.
fn reason(denial: &Denial) -> String {
    match &denial.rule {
        None => "nothing grants it".to_string(),
        Some(rule) if denial.grant.is_some() => visible(&rule.text).into_owned(),
        Some(rule) if rule.origin == "built in" && rule.text.starts_with("secret ") => {
            format!("{}; only your configuration opens it", visible(&rule.text))
        }
        Some(rule) if rule.origin == "built in" => format!("{}; no grant opens it", visible(&rule.text)),
        Some(rule) => format!(
            "{}, from {}; no grant opens it",
            visible(&rule.text),
            visible(&rule.origin)
        ),
    }
}

/// Shortens a long name in the middle.
fn shortened(text: &str) -> String {
    const MOST_COLUMNS: usize = 160;
    fit::shortened(text, MOST_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade::report::{RefusingRule, Status, Suggestion};

    fn denial(access: Kind, target: &str) -> Denial {
        Denial {
            access,
            target: target.into(),
            asked: target.into(),
            syscall: "openat".into(),
            pid: 4711,
            program: "/usr/bin/python3".into(),
            count: 1,
            at_ms: 31,
            rule: None,
            capability: None,
            explains: true,
            grant: None,
            profile: None,
        }
    }

    fn report(denials: Vec<Denial>, flags: &[&str], profile: Option<&str>) -> Report {
        let mut report = Report::refused("readonly", &["python3".into()], Path::new("/r"));
        report.status = Status::PermissionDenied;
        report.exit_code = Some(1);
        report.denials = denials;
        report.suggestion = (!flags.is_empty() || profile.is_some()).then(|| Suggestion {
            flags: flags.iter().map(Into::into).collect(),
            profile: profile.map(Into::into),
        });
        report
    }

    fn text(report: &Report, file: Option<&str>) -> String {
        explanation(report, file.map(OsStr::new)).unwrap().lines()
    }

    #[test]
    fn a_call_that_acts_on_processes_is_said_by_its_name() {
        let priority = Denial {
            syscall: "setpriority".into(),
            ..denial(Kind::Signal, "setpriority")
        };
        assert_eq!(access_in_short(&priority), "the system call `setpriority`");
        let kill = Denial {
            syscall: "kill".into(),
            ..denial(Kind::Signal, "process 12")
        };
        assert_eq!(access_in_short(&kill), "sending a signal to `process 12`");
    }

    #[test]
    fn one_file_is_said_in_five_lines() {
        let mut others = vec![denial(Kind::Read, "/etc/hosts")];
        others.extend((0..3).map(|_| Denial {
            explains: false,
            ..denial(Kind::Read, "/x")
        }));
        let report = report(others, &["--read", "/etc/hosts"], Some("mcp-standard"));
        insta::assert_snapshot!(text(&report, Some("my report.json")), @"
        stockade: `python3` was refused reading `/etc/hosts` (nothing grants it)
          3 more refusals: `stockade explain 'my report.json'`

        hint: to allow it: `--read /etc/hosts`, or more widely `--profile mcp-standard`
        ");
        assert!(text(&report, None).contains("3 more refusals: `--report FILE` writes them"));
        assert!(text(&report, Some("fd:3")).contains("3 more refusals in the report"));
    }

    #[test]
    fn a_terminals_size_that_stays_is_not_counted() {
        let size = Denial {
            syscall: "ioctl".into(),
            explains: false,
            ..denial(Kind::Metadata, "terminal")
        };
        let mut quiet = report(vec![size.clone()], &[], None);
        quiet.unsure = true;
        assert!(explanation(&quiet, None).is_none());
        let other = Denial {
            explains: false,
            ..denial(Kind::Read, "/a")
        };
        quiet.denials.push(other);
        assert!(text(&quiet, None).starts_with("stockade: 1 access was refused"));
        let explained = report(vec![denial(Kind::Read, "/a"), size], &[], None);
        assert!(!text(&explained, None).contains("more"));
    }

    #[test]
    fn few_others_are_named_with_their_grants() {
        let other = Denial {
            explains: false,
            grant: Some(vec!["--read".into(), "/my file".into()]),
            ..denial(Kind::Read, "/my file")
        };
        let report = report(vec![denial(Kind::Read, "/a"), other], &["--read", "/a"], None);
        insta::assert_snapshot!(text(&report, None), @"
        stockade: `python3` was refused reading `/a` (nothing grants it)
          1 more refusal: reading `/my file` (`--read '/my file'`)

        hint: to allow it: `--read /a`
        ");
    }

    #[test]
    fn a_program_that_looks_for_a_temporary_directory_is_told_who_has_one() {
        let made = |target: &str| Denial {
            explains: false,
            ..denial(Kind::Create, target)
        };
        let read = || denial(Kind::Read, "/r");
        let tried = vec![made("/tmp/x8_q"), made("/var/tmp/k1ab"), read()];
        let told = text(&report(tried, &["--read", "/r"], None), None);
        assert!(told.ends_with(&format!("hint: {TEMPORARY_FILES}\n")), "{told}");
        let told = text(&report(vec![made("/tmp/x8_q"), read()], &["--read", "/r"], None), None);
        assert!(told.ends_with("to allow it: `--read /r`\n"), "{told}");
    }

    #[test]
    fn a_secret_is_said_to_stay_closed() {
        let secret = Denial {
            rule: Some(RefusingRule {
                text: "secret pattern `**/.env*`".into(),
                origin: "built in".into(),
            }),
            ..denial(Kind::Read, "/r/.env")
        };
        insta::assert_snapshot!(text(&report(vec![secret], &[], None), None), @"stockade: `python3` was refused reading `/r/.env` (secret pattern `**/.env*`; only your configuration opens it)");
        let denied = Denial {
            rule: Some(RefusingRule {
                text: "denied path `/r/x`".into(),
                origin: "`--deny ./x`".into(),
            }),
            ..denial(Kind::Write, "/r/x")
        };
        insta::assert_snapshot!(text(&report(vec![denied], &[], None), None), @"stockade: `python3` was refused writing `/r/x` (denied path `/r/x`, from `--deny ./x`; no grant opens it)");
    }

    #[test]
    fn several_are_on_one_line() {
        let denials = vec![
            denial(Kind::Create, "/out/a"),
            denial(Kind::Create, "/out/b"),
            denial(Kind::Execute, "/out/run"),
        ];
        let report = report(denials, &["--write", "/out dir"], None);
        insta::assert_snapshot!(text(&report, None), @"
        stockade: `python3` was refused creating `/out/a` (nothing grants it)
          also creating `/out/b`, starting `/out/run`

        hint: to allow it: `--write '/out dir'`
        ");
    }

    #[test]
    fn only_a_profile_may_help() {
        let report = report(vec![denial(Kind::Connect, "93.184.216.34")], &[], Some("mcp-standard"));
        insta::assert_snapshot!(text(&report, None), @"
        stockade: `python3` was refused connecting to `93.184.216.34` (nothing grants it)

        hint: `--profile mcp-standard` would allow it
        ");
    }

    #[test]
    fn a_host_is_said_as_it_was_asked_for() {
        let limited = Denial {
            rule: Some(RefusingRule {
                text: "on port 443 only TLS that names a granted host is let through".into(),
                origin: "built in".into(),
            }),
            grant: Some(vec!["--host".into(), "api.example.com:443".into()]),
            ..denial(Kind::Connect, "api.example.com:443")
        };
        let denials = vec![
            limited,
            denial(Kind::Resolve, "example.com"),
            denial(Kind::Listen, "127.0.0.1:8080"),
        ];
        insta::assert_snapshot!(text(&report(denials, &["--host", "api.example.com:443"], None), None), @"
        stockade: `python3` was refused connecting to `api.example.com:443` (on port 443 only TLS that names a granted host is let through)
          also looking up `example.com` (nothing grants it), listening on `127.0.0.1:8080` (nothing grants it)

        hint: to allow it: `--host api.example.com:443`
        ");
    }

    #[test]
    fn a_port_of_the_administrators_is_told_with_one_that_can_be_granted() {
        let kept = Denial {
            rule: Some(RefusingRule {
                text: "the kernel keeps the lowest ports for the administrator".into(),
                origin: "built in".into(),
            }),
            ..denial(Kind::Listen, "127.0.0.1:80")
        };
        insta::assert_snapshot!(text(&report(vec![kept], &[], None), None), @"
        stockade: `python3` was refused listening on `127.0.0.1:80` (the kernel keeps the lowest ports for the administrator; no grant opens it)

        hint: let the program listen on a port from 1024 on, and grant it: `--listen 8080`, for example
        ");
    }

    #[test]
    fn a_socket_that_obeys_commands_is_told_without_a_line_to_paste() {
        let report = report(vec![denial(Kind::Socket, "/run/docker.sock")], &[], None);
        insta::assert_snapshot!(text(&report, None), @"
        stockade: `python3` was refused the socket `/run/docker.sock` (nothing grants it)

        hint: the server of this socket acts outside the sandbox: every profile closes it, and only `--socket` with its path opens it
        ");
    }

    #[test]
    fn a_name_is_said_with_the_address_that_it_led_to() {
        let private = Denial {
            asked: "db.example.com:5432".into(),
            ..denial(Kind::Connect, "10.0.0.5:5432")
        };
        let report = report(vec![private], &["--host", "10.0.0.5:5432"], None);
        insta::assert_snapshot!(text(&report, None), @"
        stockade: `python3` was refused connecting to `db.example.com:5432` at `10.0.0.5:5432` (nothing grants it)

        hint: to allow it: `--host 10.0.0.5:5432`
        ");
    }

    #[test]
    fn a_run_without_network_is_told_how_to_get_one() {
        let report = report(vec![denial(Kind::Connect, "internet")], &[], Some("mcp-standard"));
        insta::assert_snapshot!(text(&report, None), @"
        stockade: `python3` was refused connecting to the internet (nothing grants it)

        hint: the run has no network: add `--host NAME:PORT` for each host (ports 80 and 443 need no `:PORT`), or `--listen PORT` for a port of its own
        ");
    }

    #[test]
    fn nothing_is_said_of_a_run_that_no_denial_explains() {
        let harmless = Denial {
            explains: false,
            ..denial(Kind::Read, "/x")
        };
        let mut report = report(vec![harmless], &[], None);
        assert!(explanation(&report, None).is_none());
        report.unsure = true;
        insta::assert_snapshot!(text(&report, Some("r.json")), @"stockade: 1 access was refused, possibly the reason for the failure: `stockade explain r.json`");
    }

    #[test]
    fn a_program_that_calls_in_another_architectures_way_is_told_so() {
        let mut report = report(Vec::new(), &[], None);
        report.signal = Some("SIGSYS".into());
        insta::assert_snapshot!(text(&report, None), @"
        stockade: the program was ended by SIGSYS: it probably made system calls of another architecture (32-bit)

        hint: use the program's build for this architecture
        ");
    }

    #[test]
    fn a_name_begins_no_line_and_moves_no_terminal() {
        let name = "/r/\nstockade: all is well\u{1b}[2J\u{202e}";
        let odd = Denial {
            program: "/r/py\nthon\u{1b}".into(),
            rule: Some(RefusingRule {
                text: name.into(),
                origin: name.into(),
            }),
            ..denial(Kind::Read, name)
        };
        let report = report(vec![odd.clone(), odd], &["--read", name], None);
        let text = text(&report, Some(name));
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.lines().skip(1).all(|line| !line.starts_with("stockade")), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    }

    #[test]
    fn a_long_name_is_cut() {
        let report = report(vec![denial(Kind::Read, &format!("/{}", "x".repeat(4000)))], &[], None);
        assert!(text(&report, None).len() < 400);
    }
}
