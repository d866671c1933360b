//! Names in the directories for temporary files that a user's own programs obey for being the user's: sockets at known
//! places, and caches of code. A run has a directory of its own for temporary files, which `TMPDIR` names.

use std::path::Path;

use super::{Access, DenialKind, DenialRule, Target};
use crate::profile::Origin;

const DIRECTORIES: [&str; 2] = ["/tmp", "/var/tmp"];

/// The variables of a caller whose programs have another one.
pub const VARIABLES: [&str; 4] = ["TMPDIR", "TMP", "TEMP", "TMUX_TMPDIR"];

/// Globs below such a directory; alternatives stay within a component. `UID` stands for the caller's user id, and `U36` for the
/// same in base 36. Sources of these programs are unpacked in `/tmp` as well, so each is as narrow as its program allows.
const OBEYED: &[&str] = &[
    // A server there runs commands, or tells its clients to: tmux(1), emacsclient(1), zellij, Spring, Wine, code, screen(1),
    // nvim(1), Ray.
    "{tmux-UID,emacsUID,zellij-UID,spring-UID,.wine-UID,vscode-*.sock}",
    "{screens,uscreens}/S-*",
    "nvim.*/*/nvim.*",
    "ray/ray_current_cluster",
    // Displays up to the ninth, and sessions: what clients show and what is typed into them. Later ones are those of tests.
    ".X11-unix/X[0-9]",
    ".ICE-unix/[0-9]*",
    // It is given keys: ssh-agent(1), ssh-add(1).
    "ssh-*/agent.[0-9]*",
    // Compiled or downloaded code: Node's `module.enableCompileCache` (npm, yarn, pnpm, tsc), tsx, bunx, Jest, Metro, PyTorch,
    // Rector, Playwright, Nx.
    "{node-compile-cache,v8-compile-cache-UID,tsx-UID,bunx-UID-*,jest_U36,metro-cache,torchinductor_*,rector_cached_files}",
    "{playwright-transform-cache-UID,nx-native-file-cache-*}",
    // The same of jiti and PHPStan.
    "{jiti,node-jiti}/*.[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]*.?js",
    "phpstan/{cache,resultCache.php}",
];

/// What guards them in the directories that all have.
pub(super) fn denials() -> impl Iterator<Item = DenialRule> {
    DIRECTORIES
        .into_iter()
        .flat_map(|directory| denials_in(Path::new(directory)))
}

/// What guards them in such a directory: a run may read them, and neither change nor make one.
pub fn denials_in(directory: &Path) -> impl Iterator<Item = DenialRule> {
    #[expect(clippy::disallowed_methods, reason = "a number of this process, which never changes")]
    let user = nix::unistd::getuid().as_raw();
    let (uid, u36) = (user.to_string(), in_base_36(user));
    OBEYED.iter().map(move |glob| DenialRule {
        target: Target::Glob {
            below: directory.to_path_buf(),
            glob: glob.replace("UID", &uid).replace("U36", &u36),
        },
        access: Access::CHANGE,
        kind: DenialKind::Guarded,
        origin: Origin::BuiltIn,
    })
}

/// As JavaScript's `toString(36)` writes a number.
fn in_base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_base_36_are_as_javascript_writes_them() {
        for (number, text) in [(0, "0"), (35, "z"), (1000, "rs"), (65_534, "1eke")] {
            assert_eq!(in_base_36(number), text);
        }
    }

    #[test]
    fn each_glob_can_be_split_into_components() {
        for glob in OBEYED {
            let open = glob
                .split('/')
                .map(|part| (part.matches('{').count(), part.matches('}').count()));
            assert!(open.into_iter().all(|(open, close)| open == close), "{glob}");
        }
    }
}
