//! The warden, the launcher and other processes outside are neither rescheduled, limited, looked into nor set to another
//! group, with Landlock's scope for signals or without.
#![cfg(target_arch = "x86_64")]

use std::fmt::Write as _;

use super::outsiders::Stage;
use crate::common::skipped;

/// Each works on `T` unconfined. As one system call where Python's own function would make two.
const FORMS: &[&str] = &[
    "os.setpriority(os.PRIO_PROCESS, T, os.nice(0))",
    "os.setpriority(os.PRIO_PGRP, os.getpgid(T), os.nice(0))",
    "os.sched_setscheduler(T, os.SCHED_BATCH, os.sched_param(0))",
    "os.sched_setscheduler(T, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))",
    "os.sched_setparam(T, os.sched_param(0))",
    "call(314, T, struct.pack('IIQiIQQQ', 48, 3, 0, 0, 0, 0, 0, 0), 0) # sched_setattr",
    "call(203, T, 8, struct.pack('Q', 1)) # sched_setaffinity",
    "call(251, 1, T, 3 << 13) # ioprio_set",
    "call(251, 2, os.getpgid(T), 3 << 13) # ioprio_set of a group",
    "call(302, T, 7, 0, bytes(16)) # prlimit64, reading",
    "call(302, T, 4, struct.pack('QQ', 0, 0), 0) # prlimit64, writing",
    "call(312, os.getpid(), T, 1, 0, 0) # kcmp",
    "call(310, T, iov(bytes(8)), 1, iov(), 0, 0) # process_vm_readv of nothing",
    "call(311, T, iov(bytes(8)), 1, iov(), 0, 0) # process_vm_writev of nothing",
    "call(438, os.pidfd_open(T), 1, 0) # pidfd_getfd",
    "call(440, os.pidfd_open(T), b'', 0, 20, 0) # process_madvise",
    "call(256, T, 1, struct.pack('Q', 1), struct.pack('Q', 1)) # migrate_pages",
    "call(279, T, 0, 0, 0, 0, 0) # move_pages",
    "call(101, 0x4206, T, 0, 0) # PTRACE_SEIZE",
    "open('/proc/%d/oom_score_adj' % T, 'w').write('500')",
    "open('/proc/%d/coredump_filter' % T, 'w').write('0')",
    "open('/proc/%d/clear_refs' % T, 'w').write('1')",
    "open('/proc/%d/mem' % T, 'rb').close()",
    "open('/proc/%d/environ' % T, 'rb').close()",
    "os.open('/proc/%d/task/%d/comm' % (T, T), os.O_WRONLY)",
    "os.listdir('/proc/%d/fd' % T)",
];

const REFUSED: [&str; 4] = ["EPERM", "EACCES", "ESRCH", "ENOENT"];

fn script(targets: &str) -> String {
    let mut script = format!(
        "def iov(b=b''): return struct.pack('QQ', ctypes.addressof(ctypes.create_string_buffer(b)), 0)\n\
         for T in {targets}:\n"
    );
    for (index, code) in FORMS.iter().enumerate() {
        let code = serde_json::to_string(code).unwrap();
        let _ = writeln!(script, "  attempt({index}, {code})");
    }
    script
}

// promise: stockade.7
#[test]
fn warden_launcher_and_others_outside_cannot_be_changed_or_looked_into() {
    let free = Stage::new(&script("[@V]")).bare();
    let is_proved = |index: usize| free.words[index].ends_with(": ok");
    for (index, code) in FORMS.iter().enumerate().filter(|(index, _)| !is_proved(*index)) {
        skipped(&format!("unconfined `{code}` answers {} here", free.words[index]));
    }
    assert!(
        (0..FORMS.len()).filter(|index| is_proved(*index)).count() >= 18,
        "{:?}",
        free.words
    );
    for abi in [None, Some("2")] {
        let held = Stage::new(&script("[@V, @L, LAUNCHER, os.getppid()]")).confined(abi);
        held.assert_untouched("a call");
        assert_eq!(
            (held.status, held.words.len()),
            (0, 4 * FORMS.len()),
            "ABI {abi:?}: {:?}",
            held.words
        );
        for (index, line) in held.words.iter().enumerate() {
            let form = index % FORMS.len();
            let word = line.split_once(": ").unwrap().1;
            assert!(
                !is_proved(form) || REFUSED.contains(&word),
                "ABI {abi:?}: `{}` of target {}: {word}",
                FORMS[form],
                index / FORMS.len()
            );
        }
    }
}
