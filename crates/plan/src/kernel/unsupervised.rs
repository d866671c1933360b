//! The reasons that no supervisor can answer for a run here, and the remedies.

use super::facts::{first_line, yama_ptrace_scope};
use stockade_sys::{confine, notify};

/// The reason that a supervisor can't answer a run's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsupervised {
    /// The kernel has no seccomp user notification.
    Unknown,
    /// A filter around this process refuses a listener.
    Refused,
    /// Yama lets only administrators read another process's memory, where a call's path arguments are.
    Unreadable,
}

impl Unsupervised {
    /// Queries the kernel; `None` if a run can have a supervisor of its own.
    pub fn find() -> Option<Unsupervised> {
        const USER_NOTIFICATION: u32 = 0x7fc0_0000;
        if !notify::is_available() {
            return Some(match confine::seccomp_action_available(USER_NOTIFICATION) {
                true => Unsupervised::Refused,
                false => Unsupervised::Unknown,
            });
        }
        // 2: only administrators may; 3: not even they.
        yama_ptrace_scope()
            .is_some_and(|scope| scope >= 2)
            .then_some(Unsupervised::Unreadable)
    }

    /// The reason in one line.
    pub fn what(self) -> &'static str {
        match self {
            Unsupervised::Unknown => {
                "this kernel has no seccomp user notification, so a run can have no supervisor of its own"
            }
            Unsupervised::Refused => {
                "a seccomp filter around this process refuses user notification, so a run can have no supervisor of its \
                 own"
            }
            Unsupervised::Unreadable => {
                "Yama forbids reading the memory of other processes, even of children, so a run can have no supervisor \
                 of its own"
            }
        }
    }

    /// The remedy.
    pub fn hint(self) -> String {
        match self {
            Unsupervised::Unknown => "boot a kernel from Linux 5.13 on that is built with CONFIG_SECCOMP_FILTER, as \
                                      the distributions' own are"
                .into(),
            Unsupervised::Refused => "start it outside that sandbox, or let `seccomp` with \
                                      SECCOMP_FILTER_FLAG_NEW_LISTENER through in the container's seccomp profile"
                .into(),
            Unsupervised::Unreadable => {
                let scope = first_line("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
                let until_boot = match scope.as_str() {
                    // Yama takes no lower value any more.
                    "3" => ", and boot again",
                    _ => ", and run `sysctl --system`",
                };
                format!(
                    "it is kernel.yama.ptrace_scope = {scope}: as an administrator write `kernel.yama.ptrace_scope = 1` \
                     to /etc/sysctl.d/90-yama.conf (remove what sets it in the other files there){until_boot}"
                )
            }
        }
    }
}
