//! `/dev/stdout` and its like are what the program holds, wherever that leads.

use crate::common::{Terminal, run};
use crate::supervision::both::{both, both_of};

const FORMS: [&str; 5] = [
    "/dev/stdout",
    "/dev/fd/1",
    "/proc/self/fd/1",
    "/proc/thread-self/fd/1",
    "link",
];

/// What a program writes through such a name, with shell redirections around Stockade.
fn written(redirection: &str, mode: &str) -> Vec<[String; 2]> {
    FORMS
        .iter()
        .map(|form| {
            both(&format!(
                "os.symlink('/dev/stdout', 'link')\n\
                 os.write(1, b'one,')\n\
                 fd = os.open('{form}', {mode})\n\
                 os.write(fd, b'two,')\n\
                 os.close(fd)\n\
                 os.write(1, b'three')\n"
            ))
            .given(|place| drop(place.file("~/out", "was,")))
            .after(redirection)
            .leave("~/out")
        })
        .collect()
}

#[test]
fn a_file_outside_the_grants_that_is_appended_to_keeps_what_was_there() {
    for mode in [
        "os.O_WRONLY",
        "os.O_WRONLY | os.O_APPEND",
        "os.O_WRONLY | os.O_CREAT | os.O_APPEND",
    ] {
        // Another open with no O_APPEND of its own starts at the beginning, bare: that is lost on purpose here.
        let expects_loss = mode == "os.O_WRONLY";
        for [bare, confined] in written("exec >>@HOME/out", mode) {
            assert_eq!(confined, "was,one,two,three", "{mode}");
            if !expects_loss {
                assert_eq!(bare, confined, "{mode}");
            }
        }
    }
}

#[test]
fn a_file_outside_the_grants_keeps_what_the_program_wrote() {
    for mode in ["os.O_WRONLY | os.O_APPEND", "os.O_WRONLY | os.O_CREAT | os.O_APPEND"] {
        for [bare, confined] in written("exec >@HOME/out", mode) {
            // Bare, the first descriptor has no O_APPEND and writes on where it was.
            assert_eq!(bare, "one,three", "{mode}");
            assert_eq!(confined, "one,two,three", "{mode}");
        }
    }
}

// promise: files.17
#[test]
fn a_file_outside_the_grants_can_be_written_by_name_and_no_wider_than_it_is_held() {
    both(
        r#"
        def word(path, flags):
            try: os.close(os.open(path, flags)); return 'ok'
            except OSError as error: return errno.errorcode[error.errno]
        said = [word('/dev/stdout', flags) for flags in (os.O_WRONLY, os.O_RDONLY, os.O_RDWR)]
        said += [word('/dev/stdin', flags) for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR)]
        said += [word('@HOME/out', os.O_WRONLY), word('@HOME/in', os.O_RDONLY)]
        print(*said, file=sys.stderr)
        "#,
    )
    .given(|place| {
        place.file("~/in", "in");
    })
    .after("exec >@HOME/out <@HOME/in 2>said")
    .leave_each(
        "said",
        "ok ok ok ok ok ok ok ok\n",
        "ok EACCES EACCES ok EACCES EACCES EACCES EACCES\n",
    );
}

#[test]
fn a_file_inside_the_grants_is_written_as_bare() {
    for redirection in [">out", ">>out"] {
        for word in [
            "> /dev/stdout",
            ">> /dev/stdout",
            "> /dev/fd/1",
            ">> /proc/self/fd/1",
            "| tee /dev/stdout",
        ] {
            let [bare, confined] = both_of(&["bash", "-c", &format!("echo one; echo two {word}; echo three")])
                .file("out", "was\n")
                .after(&format!("exec {redirection}"))
                .leave("out");
            assert_eq!(confined, bare, "{redirection} {word}");
            assert_ne!(bare, "was\n");
        }
    }
}

#[test]
fn a_pipe_is_written_as_bare() {
    for word in [
        "> /dev/stdout",
        ">> /dev/stdout",
        "> /dev/fd/1",
        "> /proc/self/fd/1",
        "| tee /dev/stdout",
    ] {
        let expected = match word.starts_with('|') {
            true => "one\ntwo\ntwo\nthree\n",
            false => "one\ntwo\nthree\n",
        };
        both_of(&["bash", "-c", &format!("echo one; echo two {word}; echo three")]).print(expected);
        let to_error = word.replace("stdout", "stderr").replace("fd/1", "fd/2");
        both_of(&[
            "bash",
            "-c",
            &format!("exec 2>&1; echo one; echo two {to_error}; echo three"),
        ])
        .print(if word.starts_with('|') {
            expected
        } else {
            "one\ntwo\nthree\n"
        });
    }
    // Between two programs of the run.
    both_of(&[
        "bash",
        "-c",
        "(echo one; echo two > /dev/stdout; echo three > /dev/stderr) 2>&1 | cat",
    ])
    .print("one\ntwo\nthree\n");
    both_of(&[
        "bash",
        "-c",
        "echo text | cat /dev/stdin /proc/self/fd/0 /dev/fd/0; diff <(echo a) <(echo a) && echo same",
    ])
    .print("text\nsame\n");
}

#[test]
fn a_terminal_is_written_as_bare() {
    let begun = run().profile("workspace").bash(
        "echo one; echo two > /dev/stdout; echo three > /dev/stderr; echo four >> /dev/fd/1; echo five > /proc/self/fd/2; \
         echo six | tee /dev/stdout > /dev/tty; read line < /dev/stdin; echo got $line",
    );
    let play = |terminal: Terminal| {
        ["one", "two", "three", "four", "five", "six"]
            .iter()
            .fold(terminal, |terminal, word| terminal.awaits(word))
            .types("typed\n")
            .awaits("got typed")
            .ends_within(10)
    };
    let unconfined: Vec<std::ffi::OsString> = begun
        .words()
        .split_off(begun.words().iter().position(|w| w == "--").unwrap() + 1);
    let bash = std::iter::once("/usr/bin/env".into()).chain(unconfined).collect();
    assert_eq!(play(Terminal::new()).plays_command(&begun, bash), 0);
    assert_eq!(play(Terminal::new()).plays(&begun), 0);
}
