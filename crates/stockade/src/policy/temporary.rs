//! Names in the directories for temporary files that a user's own programs obey for being the user's: sockets at known
//! places, and caches of code. A run has a directory of its own for temporary files, which `TMPDIR` names.

use std::path::Path;

use super::{Access, DenialKind, DenialRule, Target};
use crate::profile::Origin;

const DIRECTORIES: [&str; 2] = ["/tmp", "/var/tmp"];

/// The variables of a caller whose programs have another one.
pub const VARIABLES: [&str; 4] = ["TMPDIR", "TMP", "TEMP", "TMUX_TMPDIR"];

/// Globs below such a directory. Alternatives stay within a component.
const OBEYED: &[&str] = &[
    // A server there runs commands, or tells its clients to: tmux(1), screen(1), emacsclient(1), nvim(1), zellij, kitty, code.
    "{tmux-[0-9]*,screens,uscreens,emacs[0-9]*,nvim.*,zellij-[0-9]*,kitty-[0-9]*,vscode-*.sock}",
    // Displays up to the ninth, and sessions: what clients show and what is typed into them. Later ones are those of tests.
    ".X11-unix/X[0-9]",
    ".ICE-unix/[0-9]*",
    // It is given keys: ssh-agent(1), ssh-add(1).
    "ssh-*/agent.*",
    // Compiled or downloaded code: Node's `module.enableCompileCache` (npm, yarn, pnpm, tsc), tsx, jiti, bunx, Jest, Metro.
    "{node-compile-cache,v8-compile-cache*,tsx-[0-9]*,jiti,node-jiti,bunx-[0-9]*,jest_*,metro-cache}",
    // The same of PyTorch, PHPStan, Rector.
    "{torchinductor_*,phpstan,rector_cached_files}",
];

/// What guards them in the directories that all have.
pub(super) fn denials() -> impl Iterator<Item = DenialRule> {
    DIRECTORIES
        .into_iter()
        .flat_map(|directory| denials_in(Path::new(directory)))
}

/// What guards them in such a directory: a run may read them, and neither change nor make one.
pub fn denials_in(directory: &Path) -> impl Iterator<Item = DenialRule> {
    OBEYED.iter().map(move |glob| DenialRule {
        target: Target::Glob {
            below: directory.to_path_buf(),
            glob: (*glob).into(),
        },
        access: Access::CHANGE,
        kind: DenialKind::Guarded,
        origin: Origin::BuiltIn,
    })
}
