//! Processes outside the run, Stockade's own among them, are neither signalled, debugged, rescheduled nor read.

use crate::common::{Asleep, Probe};

const PROFILES: [&str; 3] = ["workspace", "mcp-standard", "trusted"];

fn refused(forms: &[&str], refusal: &str) {
    let victim = Asleep::new();
    for profile in PROFILES {
        let mut probe = Probe::new().works("os.kill(os.getpid(), 0); os.kill(os.getppid(), 0)");
        for form in forms {
            probe = probe.attempt_if_possible(&form.replace("@V", &victim.id().to_string()));
        }
        probe.refused(profile, refusal);
    }
}

/// The process whose child the probe is: the test's own unconfined, the warden in a run.
const ABOVE: &str = "int(open('/proc/%d/stat' % os.getppid()).read().split()[3])";

#[test]
fn signals() {
    refused(
        &[
            "os.kill(@V, 0)",
            "os.kill(@V, signal.SIGCONT)",
            "call(62, @V | 1 << 32, 0) # kill, upper half",
            "call(200, @V, 0) # tkill",
            "call(234, @V, @V, 0) # tgkill",
            "i = struct.pack('iiii', 18, 0, -1, 0).ljust(128, b'\\0'); call(129, @V, 18, i) # rt_sigqueueinfo",
            "i = struct.pack('iiii', 18, 0, -1, 0).ljust(128, b'\\0'); call(297, @V, @V, 18, i) # rt_tgsigqueueinfo",
            "signal.pidfd_send_signal(os.pidfd_open(@V), 0)",
            "p = os.open('/proc/@V', os.O_DIRECTORY); signal.pidfd_send_signal(p, 0)",
            &format!("os.kill({ABOVE}, 0)"),
            &format!("signal.pidfd_send_signal(os.pidfd_open({ABOVE}), 0)"),
        ],
        "EPERM|EACCES|ESRCH|EBADF",
    );
}

// promise: processes.5
#[test]
fn debugging() {
    refused(
        &[
            "call(101, 0x4206, @V, 0, 0) # PTRACE_SEIZE",
            "call(101, 16, @V, 0, 0) # PTRACE_ATTACH",
            "call(101, 0, 0, 0, 0) # PTRACE_TRACEME",
            "call(438, os.pidfd_open(@V), 0, 0) # pidfd_getfd",
            "call(312, os.getpid(), @V, 0, 0, 0) # kcmp",
            "call(440, os.pidfd_open(@V), b'', 0, 21, 0) # process_madvise",
            &format!("call(101, 0x4206, {ABOVE}, 0, 0) # PTRACE_SEIZE of the warden"),
            &format!("call(438, os.pidfd_open({ABOVE}), 0, 0) # pidfd_getfd of the warden"),
        ],
        "EPERM|EACCES|ESRCH",
    );
    let victim = Asleep::new();
    for profile in PROFILES {
        let mut probe = Probe::new();
        for number in [310, 311] {
            for pid in [victim.id().to_string(), ABOVE.to_string()] {
                probe = probe.answers_if_possible(
                    &format!(
                        "b = ctypes.create_string_buffer(8); v = struct.pack('QQ', ctypes.addressof(b), 8); \
                         call({number}, {pid}, v, 1, struct.pack('QQ', 8, 8), 1, 0) # process_vm_readv, writev"
                    ),
                    "EFAULT",
                    "EPERM|EACCES",
                );
            }
        }
        probe.refused(profile, "EPERM");
    }
}

// promise: processes.8
#[test]
fn scheduling_and_limits() {
    refused(
        &[
            "resource.prlimit(@V, resource.RLIMIT_NOFILE)",
            "resource.prlimit(@V, resource.RLIMIT_CORE, (0, 0))",
            "call(302, @V, 7, 0, bytes(16)) # prlimit64",
            "os.setpriority(os.PRIO_PROCESS, @V, os.nice(0))",
            "os.setpriority(os.PRIO_PGRP, os.getpgid(@V), os.nice(0))",
            "os.sched_setaffinity(@V, os.sched_getaffinity(@V))",
            "os.sched_setscheduler(@V, os.SCHED_OTHER, os.sched_param(0))",
            "os.sched_setparam(@V, os.sched_param(0))",
            "call(314, @V, struct.pack('IIQiIQQQ', 48, 0, 0, 0, 0, 0, 0, 0), 0) # sched_setattr",
            "call(251, 1, @V, 0) # ioprio_set",
            "call(251, 2, os.getpgid(@V), 0) # ioprio_set of its group",
        ],
        "EPERM|EACCES|ESRCH",
    );
}

#[test]
fn a_thread_is_scheduled_by_itself_and_by_its_process() {
    for profile in PROFILES {
        let mut probe = Probe::new();
        for code in [
            "os.sched_setaffinity(T, os.sched_getaffinity(0))",
            "os.sched_setscheduler(T, os.SCHED_OTHER, os.sched_param(0))",
            "os.setpriority(os.PRIO_PROCESS, T, 19)",
            "os.setpriority(os.PRIO_PROCESS, 0, 19)",
            "resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE)",
            "os.sched_setaffinity(os.getpid(), os.sched_getaffinity(0))",
        ] {
            probe = probe.works(&format!(
                "# {code}\nimport threading\nfailed = []\ndef act():\n  T = threading.get_native_id()\n  \
                 try: {code}\n  except OSError as e: failed.append(e)\n\
                 t = threading.Thread(target=act); t.start(); t.join()\nif failed: raise failed[0]"
            ));
        }
        probe.refused(profile, "ok");
    }
}

/// Between the supervisor's look and the call the other thread may end, and its number be given to a process outside.
#[test]
fn another_thread_is_not_scheduled_by_its_number() {
    let thread = "import threading; e = threading.Event(); t = threading.Thread(target=e.wait); t.start()\n";
    for profile in PROFILES {
        let mut probe = Probe::new();
        for code in [
            "os.sched_setaffinity(t.native_id, os.sched_getaffinity(0))",
            "os.sched_setscheduler(t.native_id, os.SCHED_OTHER, os.sched_param(0))",
            "os.setpriority(os.PRIO_PROCESS, t.native_id, 19)",
            "resource.prlimit(t.native_id, resource.RLIMIT_NOFILE, (777, 777))",
        ] {
            probe = probe.attempt(&format!("# {code}\n{thread}try: {code}\nfinally: e.set()"));
        }
        probe.refused(profile, "EPERM|EACCES");
    }
}
