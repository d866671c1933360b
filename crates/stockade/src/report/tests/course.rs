//! What a program does and writes after a refusal: whether it coped with it.

use super::*;

fn python() -> Run {
    run(&["python3", "tool.py"]).gets(Kind::Read, "/srv/tool.py")
}

fn is_blamed(run: Run) -> bool {
    run.judged().status == Status::PermissionDenied
}

#[test]
fn a_program_that_got_something_new_afterwards_lived_with_it() {
    let refused = || python().tries(Kind::Read, "/srv/cache");
    assert!(is_blamed(refused()));
    // A traceback reads the source again.
    assert!(is_blamed(refused().gets(Kind::Read, "/srv/tool.py")));
    assert!(!is_blamed(refused().gets(Kind::Read, "/srv/data.csv")));
    let told = |text: &str| refused().gets(Kind::Read, "/srv/data.csv").says(text);
    assert!(!is_blamed(told("no version 9 of foo\n")));
    assert!(is_blamed(told("cannot open /srv/cache\n")));
}

#[test]
fn what_could_not_be_written_and_was_told_in_passing_is_not_blamed() {
    let told = || {
        let begun = python().tries(Kind::Create, "/srv/log");
        begun.says("tool: cannot create /srv/log: Permission denied\n")
    };
    assert!(is_blamed(told()));
    let report = told().gets(Kind::Read, "/srv/data.csv").judged();
    assert_eq!((report.status, report.unsure), (Status::Completed, true));
}

#[test]
fn where_something_was_said_a_silent_end_comes_right_after_the_refusal() {
    let ends_after = |begun: Run, calls: usize| {
        let mut run = begun.tries(Kind::Create, "/srv/out");
        for _ in 0..calls {
            run.clock += Duration::from_micros(50);
            run.calls.push((run.clock, FIRST));
        }
        is_blamed(run)
    };
    let warned = || python().says("error: 3 rows look odd\n").goes_on();
    assert_eq!([1, 6, 20].map(|calls| ends_after(python(), calls)), [true, true, false]);
    assert_eq!(
        [1, 6, 20].map(|calls| ends_after(warned(), calls)),
        [true, false, false]
    );
}

#[test]
fn settings_and_a_run_times_own_host_come_after_the_rest() {
    let last = |run: Run| explaining(&run.judged()).join(" ");
    let plain = || python().tries(Kind::Listen, "127.0.0.1:8080");
    let saved = "/home/ada/.cache2/state";
    assert_eq!(last(plain().tries(Kind::Create, saved)), "127.0.0.1:8080");
    assert_eq!(last(python().tries(Kind::Create, saved)), saved);
    let child = || {
        let begun = python().of(FIRST + 1).tries(Kind::Read, "/srv/logo");
        begun.says("cp: cannot open '/srv/logo': Permission denied\n").of(FIRST)
    };
    assert_eq!(last(child().tries(Kind::Resolve, "registry.example.org")), "/srv/logo");
}

#[test]
fn a_parent_that_started_another_program_lived_with_what_its_child_was_refused() {
    let refused = || python().of(FIRST + 1).tries(Kind::Read, "/srv/version");
    assert!(is_blamed(refused()));
    assert!(!is_blamed(refused().of(FIRST + 2).gets(Kind::Execute, "/usr/bin/wc")));
}

#[test]
fn a_value_that_is_not_there_comes_of_what_was_not_read() {
    let text = "TypeError: 'NoneType' object is not subscriptable\n";
    let read = || python().tries(Kind::Read, "/srv/settings");
    assert!(is_blamed(read().says(text)));
    assert!(!is_blamed(read().goes_on().says(text)));
    assert!(!is_blamed(python().tries(Kind::Create, "/srv/log").says(text)));
    assert!(!is_blamed(read().says("TypeError: unsupported operand\n")));
}

#[test]
fn what_was_copied_in_place_of_moved_explains_only_a_word_of_devices() {
    let fails = |text: &str| {
        let mut moved = refusal(Kind::Create, "/srv/bin/app");
        moved.reason = Reason::Never(super::super::COPIED.into());
        let begun = python().refused(moved).tries(Kind::Syscall, "ptrace");
        begun.says(text).exits(1).judged()
    };
    let other = fails("could not launch process: fork/exec /srv/bin/app: operation not permitted\n");
    assert_eq!(explaining(&other), ["ptrace"]);
    let moved = fails("OSError: [Errno 18] Invalid cross-device link: '/tmp/x' -> '/srv/bin/app'\n");
    assert_eq!(explaining(&moved), ["/srv/bin/app"]);
}

#[test]
fn a_log_that_is_written_after_the_failure_explains_nothing() {
    let failed = || python().says("check: 'b' is not KEY=VALUE\n");
    let report = failed().tries(Kind::Create, "/srv/history").says("history not saved\n");
    assert!(!is_blamed(report));
    let before = python().tries(Kind::Create, "/srv/history").says("history not saved\n");
    assert!(is_blamed(before));
}

#[test]
fn a_text_about_what_the_program_got_is_not_about_a_refusal() {
    let refused = || {
        let begun = python().gets(Kind::Read, "/srv/b.pgm");
        begun.tries(Kind::Read, "/srv/thumbs")
    };
    assert!(!is_blamed(refused().says("b.pgm: missing header\n")));
    assert!(is_blamed(refused().says("missing header\n")));
}

#[test]
fn an_applications_refusal_is_its_own() {
    let text = "ERROR:  permission denied for table users\n";
    assert!(!is_blamed(python().tries(Kind::Read, "/srv/pgpass").says(text)));
    let text = "ERROR: permission denied\n";
    assert!(is_blamed(python().tries(Kind::Read, "/srv/pgpass").says(text)));
}

#[test]
fn a_crash_comes_right_after_its_cause() {
    let refused = || python().tries(Kind::Read, "/srv/model");
    assert!(is_blamed(refused().signalled("SIGSEGV")));
    let mut other = refused().signalled("SIGSEGV");
    other.clock += Duration::from_micros(50);
    other.calls.push((other.clock, FIRST));
    assert!(!is_blamed(other));
    // A child's text isn't why its parent crashed.
    let child = python().of(FIRST + 1).tries(Kind::Read, "/srv/model");
    let child = child.says("cat: /srv/model: Permission denied\n").of(FIRST).goes_on();
    assert!(!is_blamed(child.signalled("SIGABRT")));
}

#[test]
fn both_names_of_a_link_are_granted_and_the_directory_of_a_rename() {
    let named = |syscall: &'static str, kind: Kind, target: &str| Refusal {
        syscall: syscall.into(),
        ..refusal(kind, target)
    };
    let linked = python()
        .refused(named("linkat", Kind::Create, "/srv/q/one"))
        .refused(named("linkat", Kind::Write, "/srv/p/one"));
    assert_eq!(flags(&linked.judged()), "--write /srv/q/one --write /srv/p/one");
    let renamed = python()
        .refused(named("rename", Kind::Delete, "/srv/rot/app.2"))
        .refused(named("rename", Kind::Create, "/srv/rot/app.3"));
    assert_eq!(flags(&renamed.judged()), "--write /srv/rot");
}

#[test]
fn a_repository_is_read_as_a_whole() {
    let report = run(&["git", "fetch"])
        .by("/usr/bin/git")
        .tries(Kind::Read, "/srv/r/.git/HEAD");
    assert_eq!(flags(&report.judged()), "--read /srv/r/.git");
    let report = python().tries(Kind::Read, "/srv/r/.git/HEAD");
    assert_eq!(flags(&report.judged()), "--read /srv/r/.git/HEAD");
}

#[test]
fn many_refusals_and_texts_are_judged_at_once() {
    let mut begun = python();
    for index in 0..4096 {
        let process = FIRST + index % 3;
        begun = begun
            .of(process)
            .tries(Kind::Read, &format!("/srv/d{}/f{index}", index % 7));
        begun = begun.gets(Kind::Execute, "/usr/bin/true");
        if index % 16 == 0 {
            begun = begun.says(&format!("f{index}: something is missing, it was not found\n"));
        }
    }
    begun.got.drain(..begun.got.len() - 512);
    let started = std::time::Instant::now();
    begun.judged();
    // Without optimization, on a busy machine; a tenth of a second would be too long for the tests, too.
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}
