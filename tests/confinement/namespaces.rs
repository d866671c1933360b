//! No namespaces, no Linux capabilities.

use crate::common::{Probe, is_root, run};

// promise: privileges.4
#[test]
#[cfg(target_arch = "x86_64")]
fn no_new_namespace_is_made() {
    let mut probe = Probe::new();
    for flag in [
        "0x10000000", // CLONE_NEWUSER
        "0x00020000", // CLONE_NEWNS
        "0x02000000", // CLONE_NEWCGROUP
        "0x04000000", // CLONE_NEWUTS
        "0x08000000", // CLONE_NEWIPC
        "0x20000000", // CLONE_NEWPID
        "0x40000000", // CLONE_NEWNET
        "0x80",       // CLONE_NEWTIME
        "0x10020000",
    ] {
        probe = probe.attempt_if_possible(&format!("call(272, {flag}) # unshare"));
        if flag != "0x80" {
            probe = probe.attempt_if_possible(&format!(
                "p = call(56, {flag} | 17, 0, 0, 0, 0); p or os._exit(0); os.waitpid(p, 0) # clone"
            ));
        }
    }
    probe
        .answers("call(308, 0, 0) # setns", "EINVAL", "EPERM")
        .answers_if_possible("call(435, 0, 0) # clone3", "EINVAL", "ENOSYS")
        .works("call(272, 0x400) # unshare(CLONE_FILES)")
        .refused("minimal", "EPERM");
}

// promise: privileges.3
#[test]
fn no_linux_capability_is_held_in_any_set() {
    let code = "for line in open('/proc/self/status'):\n  \
                    if line.startswith('Cap'): print(line.split()[0], int(line.split()[1], 16))";
    let ran = run().python(code).any_stdout().ends();
    let held: Vec<String> = ran
        .stdout()
        .lines()
        .filter(|line| is_root() || !line.starts_with("CapBnd"))
        .filter(|line| !line.ends_with(" 0"))
        .map(String::from)
        .collect();
    assert_eq!(ran.stdout().lines().count(), 5);
    assert!(held.is_empty(), "{held:?}");
}

// promise: privileges.3
#[test]
fn root_has_none_of_roots_powers() {
    if !is_root() {
        crate::common::skipped("only root has them unconfined");
        return;
    }
    Probe::new()
        .file("data/closed", "x")
        .attempt("os.setuid(1)")
        .attempt("os.setgroups([1])")
        .attempt("os.chroot('data')")
        .attempt("os.nice(40); os.nice(-1)")
        .attempt("socket.sethostname(socket.gethostname())")
        .attempt("resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))")
        .refused("readonly", "EPERM|ValueError(not allowed to raise maximum limit)");
}

#[test]
fn the_kernel_knows_that_the_process_is_confined() {
    let code = "print([line.split()[1] for line in open('/proc/self/status')\n\
                  if line.split(':')[0] in ('NoNewPrivs', 'Seccomp')])";
    run().python(code).stdout("['1', '2']\n").ends();
}

/// With a supervisor its user learns why a sandbox of the program's own can't be made.
#[test]
fn a_refused_namespace_is_told() {
    run()
        .command(["unshare", "-U", "true"])
        .status(1)
        .stderr_has("`unshare` was refused the system call `unshare`")
        .any_stderr()
        .ends();
}
