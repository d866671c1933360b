//! A target that tries to answer its own question at the terminal. Whatever it does there, only a person's word counts;
//! here the person says no, and with what reason shows whose answer it was.

use serde_json::Value;

use crate::common::{Run, STOCKADE, Terminal, is_root, python, run, skipped};

/// What every prompt ends with.
const PROMPT: &str = " s)? ";
/// A terminal's query for its background, and an answer to it with more behind than anybody asked for.
const QUERY: &str = "\x1b]11;?\x1b\\";
const REPLY: &str = "\x1b]11;rgb:0000/0000/0000\x1b\\\ny\nalways\n";

/// Four ways to have an answer before there is a question, each in a directory of its own.
const TRICKS: &str = r#"
import fcntl, os, select, sys, termios
def say(text): os.write(1, text.encode())
def typed_at(text):
    """Says it, and goes on once something is typed."""
    termios.tcflush(0, termios.TCIFLUSH)
    say(text)
    select.select([0], [], [], 20)
def typed_ahead(): typed_at('type ahead\n')
def queried(): say('\x1b]11;?\x1b\\')
def faked():
    typed_at('\x1b[2J\x1b[8mstockade: python3 wants to read nothing\r\n  would grant: nothing\r\nonce, no or details (58 t)? ')
def pushed():
    try: [fcntl.ioctl(0, termios.TIOCSTI, bytes([byte])) for byte in b'y\nalways\n']
    except OSError: say('nothing is pushed\n')
for trick in typed_ahead, queried, faked, pushed:
    trick()
    ask(trick.__name__)
"#;

/// A program without Stockade takes the first line that comes for the person's answer.
const NAIVE: &str = "def ask(name): say(name + ' naively: ' + repr(input(name + '? ')) + '\\n'); \
                     termios.tcflush(0, termios.TCIFLUSH)\n";

const ASKING: &str = "def ask(name):\n  \
                        try: open(name + '/file').read(); say(name + ' is ' + 'open\\n')\n  \
                        except PermissionError: say(name + ' is ' + 'closed\\n')\n";

fn tricks(asking: &str) -> String {
    format!("{asking}\n{TRICKS}")
}

fn report(run: &Run) -> Value {
    let text = std::fs::read(run.place.path("~/report.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn asking(code: &str) -> Run {
    run().flags(["--ask", "terminal"]).reporting().python(code)
}

/// The reasons that the person gave, one for each question.
fn reasons(run: &Run) -> Vec<String> {
    let report = report(run);
    let requests = report["escalation"]["requests"].as_array().unwrap();
    requests
        .iter()
        .map(|request| request["reason"].as_str().unwrap_or_default().to_string())
        .collect()
}

#[test]
fn tricks_work_on_a_program_that_knows_none() {
    let begun = run();
    let code = tricks(NAIVE);
    let plain = vec![python().into(), "-I".into(), "-c".into(), code.into()];
    let terminal = Terminal::new()
        .replies(QUERY, REPLY)
        .awaits("type ahead")
        .types("once\n")
        .awaits("typed_ahead naively: 'once'")
        .awaits("queried naively: '\\x1b]11;rgb:")
        .awaits("(58 t)? ")
        .types("once\n")
        .awaits("faked naively: 'once'");
    let terminal = if is_root() {
        terminal.awaits("pushed naively: 'y'")
    } else {
        skipped("only root pushes keys into its terminal on every kernel");
        terminal.awaits("pushed? ").types("\n")
    };
    assert_eq!(terminal.ends_within(20).plays_command(&begun, plain), 0);
}

// promise: answers.2
#[test]
fn what_comes_before_the_question_is_no_answer() {
    let names = ["typed_ahead", "queried", "faked", "pushed"];
    let begun = asking(&tricks(ASKING));
    for name in names {
        begun.place.file(&format!("{name}/file"), "x");
    }
    let code = Terminal::new()
        .replies(QUERY, REPLY)
        .awaits("type ahead")
        .types("y\nalways\n")
        .awaits("typed_ahead/file")
        .awaits(PROMPT)
        .types("no 1\n")
        .awaits("typed_ahead is closed")
        .awaits("queried/file")
        .awaits(PROMPT)
        .types("no 2\n")
        .awaits("queried is closed")
        .awaits("(58 t)? ")
        .types("y\nalways\n")
        .awaits("faked/file")
        .awaits(PROMPT)
        .types("no 3\n")
        .awaits("faked is closed")
        .awaits("nothing is pushed")
        .awaits("pushed/file")
        .awaits(PROMPT)
        .types("no 4\n")
        .awaits("pushed is closed")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
    assert_eq!(reasons(&begun), ["1", "2", "3", "4"]);
}

#[test]
fn a_reader_of_the_terminal_reads_no_answer() {
    let code = "import os, sys\n\
                def say(text): os.write(1, text.encode())\n\
                reader, writer = os.pipe()\n\
                child = os.fork()\n\
                if child == 0:\n  \
                  while True:\n    \
                    line = os.read(0, 4096)\n    \
                    say('taken: %r\\n' % line); os.write(writer, b'x')\n    \
                    if line == b'second\\n': os._exit(0)\n\
                ASKING\
                say('ready\\n'); os.read(reader, 1)\n\
                ask('d'); os.waitpid(child, 0)\n";
    let begun = asking(&code.replace("ASKING", ASKING));
    begun.place.file("d/file", "x");
    let code = Terminal::new()
        .awaits("ready")
        .types("first\n")
        .awaits("taken: b'first\\n'")
        .awaits(PROMPT)
        .types("no thanks\n")
        .awaits("d is closed")
        .never_saw("thanks\\n'")
        .types("second\n")
        .awaits("taken: b'second\\n'")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
    assert_eq!(reasons(&begun), ["thanks"]);
}

/// As it would have without a question: a program that doesn't catch the key ends by it.
#[test]
fn ctrl_c_at_a_question_ends_the_run() {
    let begun = asking("import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); open('d/file').read()");
    begun.place.file("d/file", "x");
    let code = Terminal::new()
        .awaits("d/file")
        .awaits(PROMPT)
        .types("\x03")
        .awaits("Ctrl-C")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 130);
    assert_eq!(reasons(&begun), ["Ctrl-C"]);
}

#[test]
fn ctrl_c_at_a_question_reaches_a_program_that_catches_it_and_is_a_no() {
    let code = "import os, signal\n\
                def say(text): os.write(1, text.encode())\n\
                def caught(*_): say('caught\\n')\n\
                signal.signal(signal.SIGINT, caught)\n\
                ASKING\
                ask('d'); ask('e')\n";
    let begun = asking(&code.replace("ASKING", ASKING));
    begun.place.file("d/file", "x");
    begun.place.file("e/file", "x");
    let code = Terminal::new()
        .awaits("d/file")
        .awaits(PROMPT)
        .types("\x03")
        .awaits("caught")
        .awaits("d is closed")
        .awaits("e/file")
        .awaits(PROMPT)
        .types("no mine\n")
        .awaits("e is closed")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
    assert_eq!(reasons(&begun), ["Ctrl-C", "mine"]);
}

/// Others of the run wait for their own questions by then.
#[test]
fn ctrl_c_at_a_question_asks_nothing_more_of_those_that_wait() {
    let code = "import os, signal, time\n\
                signal.signal(signal.SIGINT, signal.SIG_DFL)\n\
                def reads(name): open(name + '/file').read()\n\
                for name in 'abc': os.fork() == 0 and (reads(name), os._exit(0))\n\
                time.sleep(20)\n";
    let begun = asking(code);
    for name in ["a", "b", "c"] {
        begun.place.file(&format!("{name}/file"), "x");
    }
    let code = Terminal::new()
        .awaits(PROMPT)
        .types("\x03")
        .ends_within(10)
        .plays(&begun);
    assert_eq!(code, 130);
    assert!(
        reasons(&begun).iter().all(|reason| reason == "Ctrl-C"),
        "{:?}",
        reasons(&begun)
    );
}

#[test]
fn in_raw_mode_no_question_is_asked_and_the_report_says_so() {
    let code = "import os, termios, tty\n\
                def say(text): os.write(1, text.encode())\n\
                ASKING\
                before = termios.tcgetattr(0); tty.setraw(0)\n\
                ask('d')\n\
                termios.tcsetattr(0, termios.TCSANOW, before)\n";
    let begun = asking(&code.replace("ASKING", ASKING));
    begun.place.file("d/file", "x");
    let code = Terminal::new()
        .awaits("d is closed")
        .never_saw(PROMPT)
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
    let report = report(&begun);
    let why = &report["denials"][0]["rule"]["text"];
    assert_eq!(why, "the terminal is in raw mode, so nothing can be asked there");
    assert_eq!(report["escalation"]["requests"][0]["answer"], "silence", "{report}");
}

#[test]
fn another_group_in_the_foreground_gets_the_terminal_back_and_answers_nothing() {
    let code = "import os, signal\n\
                def say(text): os.write(1, text.encode())\n\
                ASKING\
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n\
                child = os.fork()\n\
                if child == 0:\n  \
                  os.setpgid(0, 0); os.tcsetpgrp(0, os.getpgrp())\n  \
                  ask('d')\n  \
                  say('foreground %s\\n' % (os.tcgetpgrp(0) == os.getpgrp()))\n  \
                  os._exit(0)\n\
                os.waitpid(child, 0)\n\
                ask('e')\n";
    let begun = asking(&code.replace("ASKING", ASKING));
    begun.place.file("d/file", "x");
    begun.place.file("e/file", "x");
    let code = Terminal::new()
        .awaits("d/file")
        .awaits(PROMPT)
        .types("no 1\n")
        .awaits("d is closed")
        .awaits("foreground True")
        .awaits("e/file")
        .awaits(PROMPT)
        .types("no 2\n")
        .awaits("e is closed")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
    assert_eq!(reasons(&begun), ["1", "2"]);
}

/// No process of the run draws or reads while the question is open, however it tries to go on. What draws does so a second
/// after the call, when the question has been open for a while.
fn is_held_still(beside: &str) {
    let code = format!(
        "import os, signal, sys, threading, time\n\
         def draw(): os.write(1, b'DRAWN')\n\
         reader, writer = os.pipe()\n\
         {beside}\n\
         os.read(reader, 1); os.read(reader, 1)\n\
         try: open('/etc/hosts').read(); print('is open')\n\
         except PermissionError: print('is closed', flush=True)\n\
         os._exit(0)"
    );
    let begun = asking(&code);
    let ended = Terminal::new()
        .awaits(PROMPT)
        .types("what?\n")
        .awaits("that is no answer")
        .awaits(PROMPT)
        .meanwhile("sleep 1.2")
        .types("no it was me\n")
        .awaits("stockade: refused to read /etc/hosts: it was me")
        .never_saw("DRAWN")
        .awaits("is closed")
        .ends_within(20)
        .plays(&begun);
    assert_eq!((ended, reasons(&begun)), (0, vec!["it was me".to_string()]));
}

#[test]
fn threads_beside_the_one_that_asks_are_held_still() {
    is_held_still(
        "def late(): os.write(writer, b'x'); time.sleep(1); draw()\n\
         def read():\n  \
           os.write(writer, b'x')\n  \
           while True: os.read(0, 100)\n\
         for task in late, read: threading.Thread(target=task, daemon=True).start()",
    );
}

#[test]
fn a_chain_of_processes_is_held_still() {
    is_held_still(
        "if os.fork() == 0:\n  \
           os.write(writer, b'xx')\n  \
           begun = time.monotonic()\n  \
           while time.monotonic() < begun + 20:\n    \
             if os.fork(): os._exit(0)\n    \
             if time.monotonic() > begun + 1: draw(); os._exit(0)\n  \
           os._exit(0)",
    );
}

/// Its names pad a text to the next row, and it tries to tell the terminal that there is room for it.
// promise: answers.4
#[test]
fn no_name_draws_a_row_of_a_question_at_any_width() {
    const OPENS: &str = "\nimport fcntl, os, struct, termios\n\
         try: fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('4H', 60, 400, 0, 0))\n\
         except PermissionError: pass\n\
         for name in NAMES:\n  \
           try: open(name)\n  \
           except OSError: pass\n";
    const PADS: [&str; 13] = [
        "x", " ", "\u{a0}", "\u{2800}", "\u{2003}", "\u{3000}", "\u{1680}", "\u{3164}", "a\u{301}", "\u{202e}",
        "\u{200b}", "\n", "\x1b[9C",
    ];
    for columns in [24, 80] {
        let names: [_; 13] =
            std::array::from_fn(|at| format!("{at}/{}  wider grants: everything", PADS[at].repeat(24)));
        let begun = asking(&format!("NAMES = {}{OPENS}", Value::from(names.to_vec())));
        let mut terminal = Terminal::new();
        for name in &names {
            begun.place.file(name, "x");
            terminal = terminal.awaits(PROMPT).rows_within(columns).types("no\n");
        }
        let mut argv: Vec<_> = ["/bin/sh", "-c", "stty cols \"$0\" rows 60; exec \"$@\""]
            .map(Into::into)
            .into();
        argv.extend([columns.to_string().into(), STOCKADE.into()]);
        argv.extend(begun.words());
        assert_eq!(terminal.ends_within(20).plays_command(&begun, argv), 0, "{columns}");
    }
}

/// A child asks first and is ended by its own timer; the parent's question stands in that one's place at once.
#[test]
fn an_answer_to_a_question_that_is_gone_is_none_to_the_next() {
    const ASKS: &str = "import os, signal\n\
         child = os.fork()\n\
         if not child:\n  \
           signal.setitimer(signal.ITIMER_REAL, 1)\n  \
           ask('first')\n  \
           os._exit(0)\n\
         os.waitpid(child, 0)\n\
         ask('second')\n";
    let begun = asking(&format!("def say(text): os.write(1, text.encode())\n{ASKING}{ASKS}"));
    for name in ["first", "second"] {
        begun.place.file(&format!("{name}/file"), "x");
    }
    let code = Terminal::new()
        .awaits("first/file")
        .awaits(PROMPT)
        .awaits("second/file")
        .types("once\n")
        .awaits(PROMPT)
        .types("no mine\n")
        .awaits("second is closed")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
    assert_eq!(reasons(&begun).last().unwrap(), "mine");
}
