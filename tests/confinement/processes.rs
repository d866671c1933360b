//! Other processes: out of reach of signals, of debugging, and of scheduling.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};

use crate::common::{Asleep, Probe, run, until};

#[test]
fn a_process_outside_cannot_be_signalled() {
    let victim = Asleep::new();
    let pid = victim.id();
    let probe = Probe::new()
        .attempt(&format!("os.kill({pid}, 0)"))
        .attempt(&format!("os.kill({pid}, signal.SIGCONT)"))
        .attempt("os.kill(os.getppid(), 0); os.kill(int(open('/proc/%d/stat' % os.getppid()).read().split()[3]), 0)")
        .attempt(&format!("signal.pidfd_send_signal(os.pidfd_open({pid}), 0)"));
    #[cfg(target_arch = "x86_64")]
    let probe = probe
        .attempt(&format!("call(234, {pid}, {pid}, 0) # tgkill"))
        .attempt(&format!("call(200, {pid}, 0) # tkill"))
        .attempt(&format!(
            "i = struct.pack('iiii', 18, 0, -1, 0).ljust(128, bytes(1)); call(129, {pid}, 18, i) # rt_sigqueueinfo"
        ));
    // The warden's stat can't be read at all.
    probe.refused("minimal", "EPERM|EACCES");
}

// promise: processes.1
#[test]
fn a_signal_to_everybody_reaches_only_the_run() {
    // A harmless signal, should it get out: it wakes what is stopped.
    let victim = Asleep::new();
    let pid = nix::unistd::Pid::from_raw(victim.id());
    let is_stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.contains(") T ")
    };
    kill(pid, Signal::SIGSTOP).unwrap();
    assert!(until(Duration::from_secs(5), is_stopped));
    run()
        .python(
            "import os, signal\n\
             try: os.kill(-1, signal.SIGCONT)\n\
             except OSError: pass",
        )
        .ends();
    assert!(is_stopped());
    kill(pid, Signal::SIGCONT).unwrap();
    assert!(until(Duration::from_secs(5), || !is_stopped()));
}

#[test]
fn a_run_signals_its_own_children() {
    Probe::new()
        .works("p = subprocess.Popen(['sleep', '60']); os.kill(p.pid, 15); expect(p.wait() == -15)")
        .works("p = subprocess.Popen(['sleep', '60']); signal.pidfd_send_signal(os.pidfd_open(p.pid), 9); p.wait()")
        .works("import threading; signal.signal(10, lambda *_: None); signal.pthread_kill(threading.get_ident(), 10)")
        .works("p = subprocess.Popen(['sh', '-c', 'sleep 60 & wait'], start_new_session=True); os.killpg(p.pid, 9)")
        .refused("minimal", "ok");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn other_processes_cannot_be_debugged() {
    let victim = Asleep::new();
    let pid = victim.id();
    Probe::new()
        .attempt_if_possible(&format!("call(101, 0x4206, {pid}, 0, 0) # PTRACE_SEIZE"))
        .attempt("call(101, 0, 0, 0, 0) # PTRACE_TRACEME")
        .answers_if_possible(
            &format!("b = ctypes.create_string_buffer(8); v = struct.pack('QQ', ctypes.addressof(b), 8); call(310, {pid}, v, 1, v, 1, 0) # process_vm_readv"),
            "EFAULT",
            "EPERM",
        )
        .answers_if_possible(
            &format!("b = ctypes.create_string_buffer(8); v = struct.pack('QQ', ctypes.addressof(b), 8); call(311, {pid}, v, 1, v, 1, 0) # process_vm_writev"),
            "EFAULT",
            "EPERM",
        )
        .attempt_if_possible(&format!("call(438, os.pidfd_open({pid}), 0, 0) # pidfd_getfd"))
        .attempt_if_possible(&format!("call(312, os.getpid(), {pid}, 0, 0, 0) # kcmp"))
        .refused("minimal", "EPERM");
    // Its memory as a file is closed too.
    Probe::new()
        .attempt_if_possible(&format!("open('/proc/{pid}/mem', 'rb').close()"))
        .refused("minimal", "EACCES");
}

#[test]
fn limits_and_scheduling_of_other_processes_cannot_be_touched() {
    let victim = Asleep::new();
    let pid = victim.id();
    let probe = Probe::new()
        .attempt_if_possible(&format!("resource.prlimit({pid}, resource.RLIMIT_NOFILE)"))
        .attempt_if_possible(&format!("resource.prlimit({pid}, resource.RLIMIT_CORE, (0, 0))"))
        .attempt(&format!("os.setpriority(os.PRIO_PROCESS, {pid}, os.nice(0))"))
        .attempt(&format!("os.sched_setaffinity({pid}, os.sched_getaffinity({pid}))"))
        .attempt(&format!(
            "os.sched_setscheduler({pid}, os.SCHED_OTHER, os.sched_param(0))"
        ))
        .works("resource.prlimit(0, resource.RLIMIT_NOFILE)")
        .works("os.setpriority(os.PRIO_PROCESS, 0, 19)")
        .works("os.sched_setaffinity(0, os.sched_getaffinity(0))");
    #[cfg(target_arch = "x86_64")]
    let probe = probe.attempt(&format!("call(251, 1, {pid}, 0) # ioprio_set"));
    probe.refused("minimal", "EPERM");
}
