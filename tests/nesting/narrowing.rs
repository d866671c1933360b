//! Files: what both runs allow, whichever process of the inner run asks and however.

use crate::nesting::inner::{inner, outer, python_words, shows};

/// Runs a command in the outer run alone, then inside inner ones.
fn prints(profile: &str, command: &str, alone: &str, inside: &[(&str, &str)]) {
    outer(profile).bash(command).stdout(alone).ends();
    for (flags, expected) in inside {
        outer(profile)
            .bash(&format!("{}; true", inner(flags, command)))
            .stdout(expected)
            .ends();
    }
}

#[test]
fn an_inner_profile_narrows_the_outer_one() {
    prints(
        "workspace",
        &shows(&["plain", "data/x"]),
        "plain\nx\n",
        &[
            ("minimal", "-\n-\n"),
            ("readonly", "-\nx\n"),
            ("workspace", "plain\nx\n"),
            ("trusted", "plain\nx\n"),
            ("workspace --deny ./plain", "-\nx\n"),
        ],
    );
}

// promise: nested.1
#[test]
fn an_inner_profile_adds_nothing() {
    for (profile, expected) in [("minimal", "-\n-\n"), ("readonly", "-\nx\n")] {
        prints(
            profile,
            &shows(&["plain", "data/x"]),
            expected,
            &[("trusted", expected)],
        );
    }
    outer("minimal")
        .bash(&format!("{}; true", inner("workspace", &shows(&["plain"]))))
        .any_stdout()
        .ends();
}

// promise: secrets.18
#[test]
fn secrets_stay_closed_inside() {
    // A home that is another one inside has secrets of its own.
    let command = shows(&["h/.npmrc", "plain"]);
    let begun = || outer("workspace").file("h/.npmrc", "SECRET\n");
    begun().bash(&command).stdout("SECRET\nplain\n").ends();
    begun()
        .bash(&format!("HOME=@ROOT/h {}", inner("trusted", &command)))
        .stdout("-\nplain\n")
        .ends();
}

#[test]
fn nothing_is_made_removed_or_changed_that_the_inner_run_may_not() {
    let code = "echo x 2>/dev/null >new && echo made; mkdir d 2>/dev/null && echo made; mv plain p 2>/dev/null && \
                echo moved; chmod 600 data/x 2>/dev/null && echo changed; ln -s x l 2>/dev/null && echo linked; \
                rm data/x 2>/dev/null && echo removed; echo end";
    prints(
        "workspace",
        &format!("sh -c \"{code}\""),
        "made\nmade\nmoved\nchanged\nlinked\nremoved\nend\n",
        &[("readonly", "end\n"), ("minimal", "end\n")],
    );
}

#[test]
fn three_levels_are_narrowed_by_all() {
    let command = shows(&["plain", "data/x", "other"]);
    outer("workspace")
        .file("other", "other\n")
        .bash(&command)
        .stdout("plain\nx\nother\n")
        .ends();
    let innermost = inner("workspace --deny ./data", &command);
    outer("workspace")
        .file("other", "other\n")
        .bash(&inner("workspace --deny ./plain", &innermost))
        .stdout("-\n-\nother\n")
        .ends();
}

// promise: nested.2
#[test]
fn threads_children_and_other_programs_are_narrowed_too() {
    let code = "import os, subprocess, threading\n\
                def shows(path):\n  \
                  try: print(open(path).read().strip(), flush=True)\n  \
                  except PermissionError: print(\"-\", flush=True)\n\
                t = threading.Thread(target=shows, args=(\"plain\",)); t.start(); t.join()\n\
                pid = os.fork()\n\
                if not pid: shows(\"plain\"); os._exit(0)\n\
                os.waitpid(pid, 0)\n\
                subprocess.run([\"sh\", \"-c\", \"cat plain 2>/dev/null || echo -\"])\n\
                os.execvp(\"sh\", [\"sh\", \"-c\", \"cat plain 2>/dev/null || echo -\"])";
    let words = python_words(code);
    prints(
        "workspace",
        &words,
        "plain\nplain\nplain\nplain\n",
        &[("readonly", "-\n-\n-\n-\n")],
    );
}

#[test]
fn the_outer_runs_own_processes_are_as_before() {
    let read = "cat plain 2>/dev/null || echo -";
    outer("workspace")
        .bash(&format!(
            "{read}; {}; {read}; echo y >new && cat new",
            inner("minimal", &shows(&["plain"]))
        ))
        .stdout("plain\n-\nplain\ny\n")
        .ends();
}

#[test]
fn the_reports_of_both_runs_have_what_the_inner_one_refused() {
    let ran = outer("workspace")
        .reporting()
        .bash(&format!(
            "{}; cat inner.json",
            inner("minimal --report ./inner.json", &shows(&["plain"]))
        ))
        .any_stdout()
        .ends();
    let report = ran.report();
    let denials = report["denials"].as_array().unwrap();
    assert!(
        denials.iter().any(|denial| denial.to_string().contains("/plain")),
        "{report:#}"
    );
    let text = ran.stdout();
    let inner: serde_json::Value = serde_json::from_str(text.trim_start_matches("-\n")).unwrap();
    assert_eq!(inner["enforcement"]["supervisor"], true, "{inner:#}");
    let of_inner = inner["denials"].as_array().unwrap();
    assert!(
        of_inner.iter().any(|denial| denial.to_string().contains("/plain")),
        "{inner:#}"
    );
}

#[test]
fn named_hosts_inside_another_run_are_a_shortfall_and_accepted_mean_no_network() {
    let code = "import socket\n\
                for family, kind in ((2, 1), (10, 1), (2, 2)):\n  \
                  try: socket.socket(family, kind); print(\"made\")\n  \
                  except PermissionError: print(\"-\")";
    let command = python_words(code);
    outer("mcp-standard").bash(&command).stdout("made\nmade\nmade\n").ends();
    let refused = inner("minimal --host api.example.com", &command);
    outer("mcp-standard")
        .bash(&format!("{refused}; echo $?"))
        .stdout("125\n")
        .stderr_has("--accept-shortfall network")
        .ends();
    let accepted = inner("minimal --host api.example.com --accept-shortfall network", &command);
    outer("mcp-standard").bash(&accepted).stdout("-\n-\n-\n").ends();
}

/// Landlock of the run outside would let it.
#[test]
fn a_mark_opens_nothing_that_the_inner_run_may_not_read() {
    let read = python_words(
        "import ctypes, os; c = ctypes.CDLL(None, use_errno=True); fd = c.syscall(257, -100, b\"plain\", 0, 0x5f0c4ade); \
         print(os.read(fd, 5) if fd >= 0 else os.strerror(ctypes.get_errno()))",
    );
    outer("workspace")
        .bash(&format!(
            "{read}; {}; {}",
            inner("workspace", &read),
            inner("minimal", &read)
        ))
        .stdout("b'plain'\nPermission denied\nPermission denied\n")
        .ends();
}
