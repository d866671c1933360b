//! The message after a run that failed because of a refusal: five lines at most.
//!
//! Names are chosen by the target. Each is escaped here: a line end in one must not begin a line of Stockade's.

use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::path::Path;

use super::message::Failure;
use stockade_policy::policy::{git_directory, is_powerful_socket};
use stockade_policy::profile::visible;
use stockade_report::audit::Seen;
use stockade_report::report::{Denial, Explains, Kind, NO_ADDRESS, RefusingRule, Report, TOP_STAYS};
use stockade_text::quote::{command_line, quoted};
use stockade_text::visible::fit;

/// The place of the rest of the report.
#[derive(Debug, Clone, Copy)]
pub enum Rest<'a> {
    /// `--report`'s value.
    Report(&'a OsStr),
    /// The audit trail, from which `stockade explain` takes it.
    Trail,
    /// None.
    Nowhere,
}

/// The message; `None` where no denial may explain a failure.
pub fn explanation(report: &Report, rest: Rest<'_>) -> Option<Failure> {
    let explaining: Vec<&Denial> = report.explanation().collect();
    if report.signal.as_deref() == Some("SIGSYS") {
        return Some(Failure::text(0, FOREIGN_CALL).hint("use the program's build for this architecture"));
    }
    let Some((first, others)) = explaining.split_first() else {
        return perhaps(report, rest);
    };
    // It is only printed: the exit code is the run's own.
    let mut failure = refusal(first);
    let (also, shown) = also(first, others);
    failure.details.extend(also);
    failure.details.extend(more(report, &explaining[..=shown], rest));
    if !is_told_of_closed(report) {
        return Some(with_hint(failure, hint(report)));
    }
    let closed = report.closed_files();
    failure.details.extend(half_done(&closed));
    Some(with_hint(failure, hint(report).or_else(|| Some(openings(&closed)))))
}

/// Whether the explanation tells of the closed files: it begins with one, or has all of them.
fn is_told_of_closed(report: &Report) -> bool {
    let closed = report.closed_files();
    let begins = report.explanation().next().is_some_and(Denial::is_of_closed_file);
    begins || !closed.is_empty() && closed.iter().all(|denial| denial.explains == Explains::Yes)
}

/// The list of those that may be the reason. [`kept`] tells of closed files.
fn perhaps(report: &Report, rest: Rest<'_>) -> Option<Failure> {
    let listed: Vec<&Denial> = report.perhaps().filter(|denial| !denial.is_of_closed_file()).collect();
    if listed.is_empty() {
        return None;
    }
    let mut failure = Failure::text(0, "refused, perhaps the reason:");
    failure.details.extend(listed.iter().map(|denial| candidate(denial)));
    failure.details.extend(more(report, &listed, rest));
    Some(with_hint(failure, hint(report)))
}

/// A hint, and another way with the words between.
type Hint = (String, Option<String>);

fn with_hint(failure: Failure, hint: Option<Hint>) -> Failure {
    let (hint, other_way) = hint.unzip();
    Failure {
        hint,
        other_way: other_way.flatten(),
        ..failure
    }
}

/// ``reading `/etc/hosts`: `--read /etc/hosts` ``; the target isn't said twice where that is long.
pub fn candidate(denial: &Denial) -> String {
    const COLUMNS: usize = 68;
    if has_no_address(denial) {
        return addressless(denial);
    }
    let access = access_in_short(denial);
    let Some(flags) = &denial.grant else {
        return format!("{access} ({})", reason(denial));
    };
    if leads_elsewhere(denial) {
        return leads_to(&denial.asked, flags);
    }
    let flags = command_line(flags);
    let whole = format!("{access}: `{flags}`");
    let says_target = denial
        .grant
        .iter()
        .flatten()
        .any(|word| word.as_encoded_bytes() == denial.target.as_bytes());
    match whole.chars().count() > COLUMNS && says_target {
        true => format!("{}: `{flags}`", denial.access.doing()),
        false => whole,
    }
}

/// The filter kills a process that uses another architecture's system calls: the supervisor gets no notification.
const FOREIGN_CALL: &str =
    "the program was ended by SIGSYS: it probably made system calls of another architecture (32-bit)";

/// `` `python3` was refused reading `/etc/hosts` (nothing grants it) ``.
pub fn sentence(denial: &Denial) -> String {
    if has_no_address(denial) {
        return addressless(denial);
    }
    format!(
        "`{}` was refused {} ({})",
        program(denial),
        access_in_short(denial),
        reason(denial)
    )
}

/// The sentence, on two lines where it is too long for one.
fn refusal(denial: &Denial) -> Failure {
    const COLUMNS: usize = 70;
    let whole = sentence(denial);
    if has_no_address(denial) {
        return Failure::text(0, whole);
    }
    if whole.chars().count() <= COLUMNS {
        return Failure::text(0, whole);
    }
    let mut failure = Failure::text(
        0,
        format!("`{}` was refused {}", program(denial), access_in_short(denial)),
    );
    let says_more = denial.rule.is_some() || leads_elsewhere(denial);
    let why = says_more.then(|| format!("({})", reason(denial)));
    failure.details.extend(why);
    failure
}

/// What is said after a run, whatever its exit code, that was refused changing guarded files or secrets: the first with
/// their rules, and how they are opened. `None` where an explanation has told of them.
pub fn kept(report: &Report, rest: Rest<'_>) -> Option<Failure> {
    const SHOWN: usize = 2;
    let kept = report.closed_files();
    let (first, others) = kept.split_first()?;
    if is_told_of_closed(report) {
        return None;
    }
    let mut failure = refusal(first);
    let shown = others.iter().take(SHOWN);
    failure
        .details
        .extend(shown.map(|denial| format!("also {}", beside(first, denial))));
    let unshown = others.len().saturating_sub(SHOWN) as u64;
    let is_counted = unshown > 0 || others.is_empty() && is_added(first);
    failure
        .details
        .extend(is_counted.then(|| counted(unshown, rest)).flatten());
    failure.details.extend(half_done(&kept));
    Some(with_hint(failure, Some(openings(&kept))))
}

fn half_done(closed: &[&Denial]) -> Option<String> {
    let denial = closed.iter().find(|denial| denial.stopped_git() && !is_added(denial))?;
    let target = shortened(&visible(&denial.target));
    Some(format!("git was stopped at `{target}`: `git status` shows its changes"))
}

/// Whether git was refused reading a secret of the work tree, which it does to add it.
fn is_added(denial: &Denial) -> bool {
    let is_secret = denial.rule.iter().any(|rule| rule.text.starts_with("secret "));
    is_secret && denial.access == Kind::Read && denial.stopped_git()
}

/// The ways to open what a run was refused, or to do without.
fn openings(kept: &[&Denial]) -> Hint {
    if let Some(name) = kept
        .iter()
        .find(|denial| is_added(denial))
        .and_then(|denial| Path::new(&denial.target).file_name())
    {
        let name = shortened(&quoted(name));
        return (format!("add `{name}` to `.gitignore`: git leaves it out then"), None);
    }
    let flag = kept
        .iter()
        .find_map(|denial| denial.grant.clone().or_else(|| of_home(denial)));
    match flag {
        Some(words) => (
            format!("once: `{}`;", command_line(&words)),
            Some("for good: `[secrets] open` in `config.toml`".into()),
        ),
        None if kept.iter().all(|denial| denial.target.ends_with("/.git")) => (
            "make it in a new directory, as `git init NEW` does;".into(),
            Some("or yourself, outside of a run".into()),
        ),
        None if !kept.iter().all(|denial| is_opened_by_path(denial)) => {
            ("change it yourself, outside of a run".into(), None)
        }
        None => (
            "only `[secrets] open` in your `config.toml` opens it, by its path".into(),
            None,
        ),
    }
}

/// The flag that opens a guarded file with a place of its own in a home, which no question opens.
fn of_home(denial: &Denial) -> Option<Vec<OsString>> {
    let is_guarded = |rule: &RefusingRule| rule.origin == "built in" && rule.text.starts_with("guarded path ");
    let is_one = denial.rule.as_ref().is_some_and(is_guarded) && is_opened_by_path(denial);
    is_one.then(|| vec!["--write-guarded".into(), (&denial.target).into()])
}

/// Whether a line of the user's own configuration opens it. What git obeys in a git directory stays closed.
fn is_opened_by_path(denial: &Denial) -> bool {
    let is_secret = denial.rule.iter().any(|rule| rule.text.starts_with("secret "));
    is_secret || denial.is_of_closed_file() && git_directory(Path::new(&denial.target)).is_none()
}

/// Further refusals that explain it, as many as a line holds.
fn also(first: &Denial, others: &[&Denial]) -> (Option<String>, usize) {
    const COLUMNS: usize = 78;
    let mut line = String::from("also ");
    let mut shown = 0;
    for denial in others {
        let one = beside(first, denial);
        if shown > 0 && line.chars().count() + one.chars().count() > COLUMNS {
            break;
        }
        line += if shown > 0 { ", " } else { "" };
        line += &one;
        shown += 1;
    }
    ((shown > 0).then_some(line), shown)
}

/// A refusal after the first one, whose rule isn't said twice.
fn beside(first: &Denial, denial: &Denial) -> String {
    match denial.rule == first.rule {
        true => access_in_short(denial),
        false => format!("{} ({})", access_in_short(denial), reason(denial)),
    }
}

/// The other refusals, without those that programs live with every time or that [`kept`] tells: one is named, more are
/// counted; and what lists all.
fn more(report: &Report, shown: &[&Denial], rest: Rest<'_>) -> Vec<String> {
    let has_closed = is_told_of_closed(report);
    let is_shown = |denial: &Denial| shown.iter().any(|one| std::ptr::eq(*one, denial));
    let is_other = |denial: &&Denial| !denial.usual && !is_shown(denial) && (has_closed || !denial.is_of_closed_file());
    let others: Vec<&Denial> = report.denials.iter().filter(is_other).collect();
    let count = others.len() as u64 + report.denials_dropped;
    let one = match (&others[..], count) {
        ([one], 1) => Some(format!("1 more: {}", candidate(one))),
        _ => None,
    };
    let uncounted = if one.is_some() { 0 } else { count };
    one.into_iter().chain(counted(uncounted, rest)).collect()
}

/// A line with the number of refusals that aren't shown, and what lists them.
fn counted(count: u64, rest: Rest<'_>) -> Option<String> {
    let refusals = if count == 1 { "refusal" } else { "refusals" };
    match (count, where_listed(rest)) {
        (0, Listed::By(command)) => Some(format!("`{command}` tells more")),
        (0, Listed::In(_)) => None,
        (_, Listed::By(command)) => Some(format!("{count} more {refusals}: `{command}`")),
        (_, Listed::In(place)) => Some(format!("{count} more {refusals}{place}")),
    }
}

/// What lists all refusals.
enum Listed {
    By(String),
    In(&'static str),
}

fn where_listed(rest: Rest<'_>) -> Listed {
    match rest {
        Rest::Report(file) if !file.as_encoded_bytes().starts_with(b"fd:") => {
            Listed::By(format!("stockade explain {}", quoted(file)))
        }
        Rest::Report(_) => Listed::In(" in the report"),
        Rest::Trail => Listed::By("stockade explain".into()),
        Rest::Nowhere => Listed::In("; `--report FILE` writes them"),
    }
}

fn hint(report: &Report) -> Option<Hint> {
    let alone = |text: String| Some((text, None));
    let likely = || report.explanation().chain(report.perhaps());
    let has_flags = report.suggestion.as_ref().is_some_and(|suggestion| {
        !suggestion.flags.is_empty() || suggestion.candidates.iter().any(|one| !one.flags.is_empty())
    });
    if !has_flags && let Some(way) = likely().find_map(way_without_flag) {
        return alone(way);
    }
    if wants_temporary_files(report) {
        return alone(TEMPORARY_FILES.into());
    }
    let suggestion = report.suggestion.as_ref()?;
    match (&suggestion.flags[..], &suggestion.profile) {
        ([], None) => None,
        ([], Some(profile)) => alone(format!("`--profile {profile}` would allow it")),
        (flags, None) => alone(format!("to allow it: `{}`", command_line(flags))),
        (flags, Some(profile)) => Some((
            format!("to allow it: `{}`,", command_line(flags)),
            Some(format!("or more widely `--profile {profile}`")),
        )),
    }
}

/// The flags that would allow it, or what else a person can do.
pub fn grant(denial: &Denial) -> String {
    match &denial.grant {
        Some(words) => command_line(words),
        None if denial.is_of_closed_file() || is_opened_by_path(denial) => openings(&[denial]).0,
        None => way_without_flag(denial).unwrap_or_else(|| "none would allow it".to_string()),
    }
}

/// What a person can do about a refusal for which no flag is proposed.
fn way_without_flag(denial: &Denial) -> Option<String> {
    if denial.grant.is_some() {
        return None;
    }
    if wants_network(denial) {
        return Some(NO_NETWORK.into());
    }
    if has_no_address(denial) {
        let line = command_line(&["getent", "hosts", host_of(denial)]);
        return Some(format!("is its name right, and does DNS answer? `{line}`"));
    }
    if wants_powerful_socket(denial) {
        return Some(POWERFUL_SOCKET.into());
    }
    if let Some(port) = lowest_port(denial) {
        let other = u32::from(port) + 8000;
        return Some(format!(
            "let it listen on a port from 1024 on, as with `--listen {other}`"
        ));
    }
    if denial.rule.iter().any(|rule| rule.text == TOP_STAYS) {
        let above = Path::new(&denial.target).parent()?.display().to_string();
        let flag = command_line(&["--write", &above]);
        return Some(format!(
            "a grant of the directory above allows it: `{}`",
            visible(&flag)
        ));
    }
    if denial.access == Kind::Variable {
        let flag = command_line(&["--env", &denial.target]);
        return Some(format!("`{flag}` hands it over, if that is meant: it may be a secret"));
    }
    let is_odd_path = denial.target.starts_with('/') && denial.target.contains(char::REPLACEMENT_CHARACTER);
    (is_odd_path && denial.rule.is_none()).then(|| NOT_UTF_8.into())
}

/// Without a socket the program's destination can't be seen.
const NO_NETWORK: &str = "it has no network: `--host NAME:PORT` grants a host, `--listen PORT` a port";

/// A flag in text would name another file.
const NOT_UTF_8: &str = "its name isn't UTF-8: a grant of its directory would allow it";

/// A grant of one of the places that the program tries wouldn't do for the next program.
const TEMPORARY_FILES: &str = "it needs a temporary directory, as `--profile readonly` and wider have one";

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
const POWERFUL_SOCKET: &str = "its server acts outside of the sandbox: only `--socket PATH` opens it";

/// Whether a program was refused a socket whose server carries out commands.
fn wants_powerful_socket(denial: &Denial) -> bool {
    denial.access == Kind::Socket && is_powerful_socket(Path::new(&denial.target))
}

/// The refused port, if the kernel reserves it for the administrator.
fn lowest_port(denial: &Denial) -> Option<u16> {
    let port = denial.target.parse::<SocketAddr>().ok()?.port();
    let is_kept = denial.access == Kind::Listen && denial.rule.is_some();
    (is_kept && (1..1024).contains(&port)).then_some(port)
}

/// Whether a program was refused an internet socket of any kind.
fn wants_network(denial: &Denial) -> bool {
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
    denial.access == Kind::Connect && is_name_of(&denial.asked, &denial.target)
}

fn is_name_of(asked: &str, target: &str) -> bool {
    let is_address = |text: &str| text.parse::<SocketAddr>().is_ok();
    is_address(target) && !asked.is_empty() && !is_address(asked)
}

/// A granted name whose address isn't public, with the flag for that, while the run goes on.
pub fn address_to_grant(seen: &Seen) -> Option<String> {
    let is_it = seen.access == Kind::Connect && seen.rule.is_none() && is_name_of(&seen.asked, &seen.target);
    let flags = seen.missing_grant(None).filter(|_| is_it)?.words();
    Some(leads_to(&seen.asked, &flags))
}

/// Whether a granted name led nowhere.
fn has_no_address(denial: &Denial) -> bool {
    denial.rule.iter().any(|rule| rule.text == NO_ADDRESS)
}

fn host_of(denial: &Denial) -> &str {
    denial.asked.rsplit_once(':').map_or(&denial.asked, |(host, _)| host)
}

fn addressless(denial: &Denial) -> String {
    format!(
        "host `{}` is granted, but has no address",
        shortened(&visible(host_of(denial)))
    )
}

fn leads_to(asked: &str, flags: &[OsString]) -> String {
    let name = shortened(&visible(asked));
    format!(
        "`{name}` is granted, its address isn't public: `{}`",
        command_line(flags)
    )
}

/// The reason, in brackets.
fn reason(denial: &Denial) -> String {
    match &denial.rule {
        None if leads_elsewhere(denial) => {
            "the name is granted; its address isn't public and needs its own grant".to_string()
        }
        None => "nothing grants it".to_string(),
        Some(rule) if [NO_ADDRESS, TOP_STAYS].contains(&rule.text.as_str()) => rule.text.clone(),
        Some(rule) if denial.grant.is_some() || of_home(denial).is_some() => visible(&rule.text).into_owned(),
        Some(rule) if rule.origin == "built in" && is_opened_by_path(denial) => {
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
    const MAX_COLUMNS: usize = 160;
    fit::shortened(text, MAX_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_report::report::{RefusingRule, Status, Suggestion};

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
            explains: Explains::Yes,
            usual: false,
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
            candidates: Vec::new(),
        });
        report
    }

    fn text(report: &Report, file: Option<&str>) -> String {
        let rest = file.map_or(Rest::Trail, |file| Rest::Report(OsStr::new(file)));
        explanation(report, rest).unwrap().lines()
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
            explains: Explains::No,
            ..denial(Kind::Read, "/x")
        }));
        let report = report(others, &["--read", "/etc/hosts"], Some("mcp-standard"));
        insta::assert_snapshot!(text(&report, Some("my report.json")), @"
        stockade: `python3` was refused reading `/etc/hosts` (nothing grants it)
          3 more refusals: `stockade explain 'my report.json'`

        hint: to allow it: `--read /etc/hosts`, or more widely `--profile mcp-standard`
        ");
        assert!(text(&report, None).contains("3 more refusals: `stockade explain`\n"));
        assert!(text(&report, Some("fd:3")).contains("3 more refusals in the report"));
    }

    #[test]
    fn what_may_be_the_reason_is_listed_with_its_grant() {
        let other = |target: &str, explains| Denial {
            explains,
            grant: Some(vec!["--read".into(), target.into()]),
            ..denial(Kind::Read, target)
        };
        let long = format!("/srv/{}", "x".repeat(60));
        let mut denials = vec![
            other("/my file", Explains::Perhaps),
            other(&long, Explains::Perhaps),
            Denial {
                explains: Explains::Perhaps,
                ..denial(Kind::Signal, "process 12")
            },
            other("/z", Explains::No),
        ];
        denials.push(Denial {
            usual: true,
            ..other("/sys/fs/cgroup/cpu.max", Explains::No)
        });
        insta::assert_snapshot!(text(&report(denials, &[], None), None), @"
        stockade: refused, perhaps the reason:
          reading `/my file`: `--read '/my file'`
          reading: `--read /srv/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`
          sending a signal to `process 12` (nothing grants it)
          1 more: reading `/z`: `--read /z`
          `stockade explain` tells more
        ");
    }

    #[test]
    fn a_program_that_looks_for_a_temporary_directory_is_told_who_has_one() {
        let made = |target: &str| Denial {
            explains: Explains::No,
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
        insta::assert_snapshot!(text(&report(vec![secret], &[], None), None), @"
        stockade: `python3` was refused reading `/r/.env`
          (secret pattern `**/.env*`; only your configuration opens it)
          `stockade explain` tells more
        ");
        let denied = Denial {
            rule: Some(RefusingRule {
                text: "denied path `/r/x`".into(),
                origin: "`--deny ./x`".into(),
            }),
            ..denial(Kind::Write, "/r/x")
        };
        insta::assert_snapshot!(text(&report(vec![denied], &[], None), None), @"
        stockade: `python3` was refused writing `/r/x`
          (denied path `/r/x`, from `--deny ./x`; no grant opens it)
          `stockade explain` tells more
        ");
    }

    #[test]
    fn closed_files_are_told_in_one_block_with_the_way_to_open_them() {
        let closed = |name: &str, explains| Denial {
            rule: Some(RefusingRule {
                text: "secret pattern `**/.env*`".into(),
                origin: "built in".into(),
            }),
            explains,
            ..denial(Kind::Create, &format!("/r/{name}"))
        };
        let many = |explains: Explains| {
            (1..=8)
                .map(|at| closed(&format!("{at}/.env"), explains))
                .collect::<Vec<_>>()
        };
        let mut denials = many(Explains::Yes);
        denials[4..].iter_mut().for_each(|one| one.explains = Explains::No);
        let explained = report(denials, &[], None);
        insta::assert_snapshot!(text(&explained, None), @"
        stockade: `python3` was refused creating `/r/1/.env`
          (secret pattern `**/.env*`; only your configuration opens it)
          also creating `/r/2/.env`, creating `/r/3/.env`, creating `/r/4/.env`
          4 more refusals: `stockade explain`

        hint: only `[secrets] open` in your `config.toml` opens it, by its path
        ");
        assert!(kept(&explained, Rest::Trail).is_none());
        let mut denials = many(Explains::Perhaps);
        denials[3..].iter_mut().for_each(|one| one.explains = Explains::No);
        let unsure = report(denials, &[], None);
        assert!(explanation(&unsure, Rest::Trail).is_none());
        insta::assert_snapshot!(kept(&unsure, Rest::Trail).unwrap().lines(), @"
        stockade: `python3` was refused creating `/r/1/.env`
          (secret pattern `**/.env*`; only your configuration opens it)
          also creating `/r/2/.env`
          also creating `/r/3/.env`
          5 more refusals: `stockade explain`

        hint: only `[secrets] open` in your `config.toml` opens it, by its path
        ");
    }

    #[test]
    fn a_guarded_file_of_a_home_is_told_with_the_flag_that_opens_it() {
        let rule = RefusingRule {
            text: "guarded path `/home/ada/.bashrc`".into(),
            origin: "built in".into(),
        };
        let denial = Denial {
            rule: Some(rule),
            ..denial(Kind::Write, "/home/ada/.bashrc")
        };
        assert_eq!(openings(&[&denial]).0, "once: `--write-guarded /home/ada/.bashrc`;");
        assert_eq!(reason(&denial), "guarded path `/home/ada/.bashrc`");
    }

    #[test]
    fn a_refused_repository_names_where_one_may_be_made() {
        let hint_of = |target: &str| {
            let rule = RefusingRule {
                text: "guarded part of a git directory".into(),
                origin: "built in".into(),
            };
            let denial = Denial {
                rule: Some(rule),
                ..denial(Kind::Create, target)
            };
            openings(&[&denial]).0
        };
        assert_eq!(
            hint_of("/r/sub/.git"),
            "make it in a new directory, as `git init NEW` does;"
        );
        assert_eq!(
            hint_of("/r/.git/hooks/pre-commit"),
            "change it yourself, outside of a run"
        );
    }

    #[test]
    fn what_no_flag_would_allow_is_told_with_another_way() {
        assert_eq!(grant(&denial(Kind::Read, "/r/\u{fffd}")), NOT_UTF_8);
        let variable = denial(Kind::Variable, "API_KEY");
        assert!(
            grant(&variable).starts_with("`--env API_KEY` hands it over"),
            "{}",
            grant(&variable)
        );
        assert_eq!(grant(&denial(Kind::Syscall, "mount")), "none would allow it");
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
          `stockade explain` tells more

        hint: to allow it: `--write '/out dir'`
        ");
    }

    #[test]
    fn only_a_profile_may_help() {
        let report = report(vec![denial(Kind::Connect, "93.184.216.34")], &[], Some("mcp-standard"));
        insta::assert_snapshot!(text(&report, None), @"
        stockade: `python3` was refused connecting to `93.184.216.34`
          `stockade explain` tells more

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
        stockade: `python3` was refused connecting to `api.example.com:443`
          (on port 443 only TLS that names a granted host is let through)
          also looking up `example.com` (nothing grants it)
          1 more: listening on `127.0.0.1:8080` (nothing grants it)
          `stockade explain` tells more

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
        stockade: `python3` was refused listening on `127.0.0.1:80`
          (the kernel keeps the lowest ports for the administrator; no grant opens it)
          `stockade explain` tells more

        hint: let it listen on a port from 1024 on, as with `--listen 8080`
        ");
    }

    #[test]
    fn a_socket_that_obeys_commands_is_told_without_a_line_to_paste() {
        let report = report(vec![denial(Kind::Socket, "/run/docker.sock")], &[], None);
        insta::assert_snapshot!(text(&report, None), @"
        stockade: `python3` was refused the socket `/run/docker.sock`
          `stockade explain` tells more

        hint: its server acts outside of the sandbox: only `--socket PATH` opens it
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
        stockade: `python3` was refused connecting to `db.example.com:5432` at `10.0.0.5:5432`
          (the name is granted; its address isn't public and needs its own grant)
          `stockade explain` tells more

        hint: to allow it: `--host 10.0.0.5:5432`
        ");
        let mut unsure = report;
        unsure.denials[0].explains = Explains::Perhaps;
        unsure.denials[0].grant = Some(["--host", "10.0.0.5:5432"].map(Into::into).into());
        let listed = "  `db.example.com:5432` is granted, its address isn't public: `--host 10.0.0.5:5432`\n";
        assert!(text(&unsure, None).contains(listed), "{}", text(&unsure, None));
    }

    #[test]
    fn a_run_without_network_is_told_how_to_get_one() {
        let report = report(vec![denial(Kind::Connect, "internet")], &[], Some("mcp-standard"));
        insta::assert_snapshot!(text(&report, None), @"
        stockade: `python3` was refused connecting to the internet (nothing grants it)
          `stockade explain` tells more

        hint: it has no network: `--host NAME:PORT` grants a host, `--listen PORT` a port
        ");
    }

    #[test]
    fn nothing_is_said_of_a_run_that_no_denial_explains() {
        let harmless = Denial {
            explains: Explains::No,
            ..denial(Kind::Read, "/x")
        };
        let report = report(vec![harmless], &[], None);
        assert!(explanation(&report, Rest::Trail).is_none());
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
        assert_eq!(text.lines().count(), 6, "{text}");
        assert!(text.lines().skip(1).all(|line| !line.starts_with("stockade")), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    }

    #[test]
    fn a_long_name_is_cut() {
        let report = report(vec![denial(Kind::Read, &format!("/{}", "x".repeat(4000)))], &[], None);
        assert!(text(&report, None).len() < 400);
    }
}
