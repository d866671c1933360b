//! The reasons that a machine has no Landlock, and the remedies.

use std::io;

use super::facts::first_line;

/// The reason that Landlock is unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// The kernel has it but was started without it (`EOPNOTSUPP`).
    SwitchedOff,
    /// The kernel doesn't know its calls, or a filter says so (`ENOSYS`).
    Unknown,
    /// Its calls are refused otherwise, as filters of containers do.
    Refused,
}

impl Absence {
    /// Queries the kernel; `None` if Landlock is there.
    pub fn find() -> Option<Absence> {
        super::landlock_abi().err().map(|error| Absence::of(&error))
    }

    /// The meaning of an error of landlock_create_ruleset(2).
    pub fn of(error: &io::Error) -> Absence {
        match error.raw_os_error() {
            Some(libc::EOPNOTSUPP) => Absence::SwitchedOff,
            Some(libc::ENOSYS) => Absence::Unknown,
            _ => Absence::Refused,
        }
    }

    /// The reason in one line.
    pub fn what(self) -> &'static str {
        match self {
            Absence::SwitchedOff => "Landlock is built into this kernel and switched off",
            Absence::Unknown => {
                "this kernel doesn't know Landlock: it is older than Linux 5.13, or was built without \
                 CONFIG_SECURITY_LANDLOCK"
            }
            Absence::Refused => {
                "something around this process, such as a container's seccomp profile, refuses Landlock"
            }
        }
    }

    /// The remedy.
    pub fn hint(self) -> String {
        match self {
            Absence::SwitchedOff => switch_on(first_line("/sys/kernel/security/lsm").as_deref()),
            Absence::Unknown => "boot a newer kernel; those of Debian 12, Ubuntu 22.04 and Fedora 35 have it. In a \
                                 container its seccomp profile may hide it: let `landlock_create_ruleset`, \
                                 `landlock_add_rule` and `landlock_restrict_self` through"
                .into(),
            Absence::Refused => "let `landlock_create_ruleset`, `landlock_add_rule` and `landlock_restrict_self` \
                                 through in the container's seccomp profile"
                .into(),
        }
    }
}

/// The boot parameter names every security module to be enabled, so those that are on now belong in it.
fn switch_on(modules: Option<&str>) -> String {
    let others = modules.unwrap_or("…").split(',');
    // Always on, and not to be named.
    let others = others.filter(|module| !module.is_empty() && *module != "capability");
    let parameter = ["landlock"].into_iter().chain(others).collect::<Vec<_>>().join(",");
    let unknown = match modules {
        Some(_) => "",
        None => " (… are the modules that are on now)",
    };
    format!(
        "boot with the parameter `lsm={parameter}`{unknown}. Debian, Ubuntu: add it to GRUB_CMDLINE_LINUX in \
         /etc/default/grub and run `update-grub`; Fedora, RHEL: `grubby --update-kernel=ALL --args=lsm={parameter}`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_from_what_is_switched_off() {
        let of = |errno| Absence::of(&io::Error::from_raw_os_error(errno));
        assert_eq!(of(libc::EOPNOTSUPP), Absence::SwitchedOff);
        assert_eq!(of(libc::ENOSYS), Absence::Unknown);
        assert_eq!(of(libc::EPERM), Absence::Refused);
    }

    #[test]
    fn the_boot_parameter_keeps_the_modules_that_are_on() {
        let hint = switch_on(Some("capability,yama,apparmor"));
        assert!(
            hint.starts_with("boot with the parameter `lsm=landlock,yama,apparmor`. "),
            "{hint}"
        );
        assert!(hint.ends_with("--args=lsm=landlock,yama,apparmor`"), "{hint}");
        assert!(switch_on(Some("capability")).starts_with("boot with the parameter `lsm=landlock`. "));
        assert!(switch_on(None).contains("`lsm=landlock,…` (… are the modules that are on now)"));
    }
}
