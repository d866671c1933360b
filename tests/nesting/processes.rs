//! Processes: an inner run sees and signals its own alone, and what it leaves behind stays narrowed.

use crate::common::until;
use crate::nesting::inner::{inner, outer, python_words};
use std::time::Duration;

const SHOWS: &str = "def shows(path):\n  \
                       try: return open(path).read().strip() or \"empty\"\n  \
                       except OSError: return \"-\"\n";

#[test]
fn outer_processes_are_neither_read_nor_signalled() {
    let code = format!(
        "import os, sys\nvictim = int(sys.argv[1])\n{SHOWS}\
         print(shows(\"/proc/%d/cmdline\" % victim) != \"-\", shows(\"/proc/%d/status\" % os.getpid()) != \"-\")\n\
         for act in (lambda: os.kill(victim, 0), lambda: os.sched_setaffinity(victim, os.sched_getaffinity(0)), \
         lambda: os.setpriority(os.PRIO_PROCESS, victim, os.nice(0))):\n  \
           try: act(); print(\"ok\")\n  \
           except OSError: print(\"-\")\n"
    );
    let words = |around: &str| format!("sleep 60 & v=$!; {around}; kill $v");
    let probe = format!("{} $v", python_words(&code));
    outer("workspace")
        .bash(&words(&probe))
        .stdout("True True\nok\n-\n-\n")
        .ends();
    outer("workspace")
        .bash(&words(&inner("workspace", &probe)))
        .stdout("False True\n-\n-\n-\n")
        .ends();
}

#[test]
fn orphans_stay_narrowed_while_the_run_lives_and_end_with_it() {
    // The command ends once its daemon, which is an orphan by then, is at `@UNTIL`.
    let daemon = format!(
        "import os, time\n{SHOWS}\
         reader, writer = os.pipe()\n\
         def at(step):\n  \
           if step == \"@UNTIL\": os.write(writer, b\"x\")\n\
         if not os.fork():\n  \
           os.setsid()\n  \
           parent = os.getpid()\n  \
           if not os.fork():\n    \
             os.chdir(\"@ROOT\")\n    \
             while os.getppid() in (1, parent): time.sleep(0.01)\n    \
             at(\"waits\")\n    \
             while not os.path.exists(\"data/go\"): time.sleep(0.01)\n    \
             os.write(1, (shows(\"plain\") + \" \" + shows(\"data/x\") + chr(10)).encode())\n    \
             at(\"has read\")\n    \
             time.sleep(60)\n  \
           os._exit(0)\n\
         os.read(reader, 1)"
    );
    let words = |until: &str| python_words(&daemon.replace("@UNTIL", until));
    let started = |words: &str| format!("touch data/go; {words}");
    outer("workspace")
        .bash(&started(&words("has read")))
        .stdout("plain x\n")
        .ends();
    outer("workspace")
        .bash(&started(&inner("readonly", &words("has read"))))
        .stdout("- x\n")
        .ends();
    // The inner command ends before the daemon reads: the inner warden takes the daemon along, which holds the pipe.
    outer("workspace")
        .bash(&format!(
            "{{ {}; touch data/go; }} | cat; echo end",
            inner("readonly", &words("waits"))
        ))
        .stdout("end\n")
        .ends();
}

// promise: nested.3
#[test]
fn orphans_of_a_killed_inner_warden_stay_narrowed() {
    let daemon = format!(
        "import os, time\n{SHOWS}\
         if not os.fork():\n  \
           os.setsid()\n  \
           while not os.path.exists(\"data/go\"): time.sleep(0.01)\n  \
           open(1, \"w\").write(shows(\"plain\") + \" \" + shows(\"data/x\") + chr(10))\n  \
           os._exit(0)\n\
         open(1, \"w\", closefd=False).write(\"ready\" + chr(10))\n\
         time.sleep(60)"
    );
    let words = python_words(&daemon);
    // What is said goes to a file, so that the shell can wait for it.
    let said = |lines: u32| format!("while test $(wc -l <said) -lt {lines}; do sleep 0.02; done");
    let (ready, answered) = (said(1), said(2));
    outer("workspace")
        .bash(&format!(
            ">said; {words} >>said & v=$!; {ready}; kill -9 $v; touch data/go; {answered}; cat said plain"
        ))
        .stdout("ready\nplain x\nplain\n")
        .ends();
    // The inner launcher, which would end what its warden left, is stopped.
    outer("workspace")
        .bash(&format!(
            ">said; {} >>said & l=$!; {ready}; w=$(cat /proc/$l/task/$l/children); kill -STOP $l; \
             kill -9 $w && echo killed; touch data/go; {answered}; cat said plain; {}; kill -9 $l",
            inner("readonly", &words),
            inner("workspace", "cat plain")
        ))
        .stdout("killed\nready\n- x\nplain\nplain\n")
        .ends();
}

// promise: nested.4
#[test]
fn everything_ends_with_the_outer_run() {
    let place = outer("workspace").bash(&inner("workspace", "sh -c \"echo \\$\\$ >pid; sleep 300\""));
    let mut child = place.process().spawn().unwrap();
    let path = place.place.path("pid");
    assert!(until(Duration::from_secs(30), || path.exists()), "the inner run starts");
    let launcher = child.id().to_string();
    let sleeps = || {
        std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == place.place.root)
                && entry.file_name() != launcher.as_str()
        })
    };
    assert!(sleeps(), "the probe sees the run's processes");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        until(Duration::from_secs(20), || !sleeps()),
        "something of the run goes on"
    );
}
