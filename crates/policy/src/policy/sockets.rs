//! Sockets that give more power than a connection.

use std::path::Path;

/// Sockets whose server executes any request: each needs a grant of its own name.
pub fn is_powerful_socket(name: &Path) -> bool {
    const NAMES: &[&str] = &[
        "docker.sock",
        "containerd.sock",
        "podman.sock",
        "crio.sock",
        "buildkitd.sock",
        "system_bus_socket",
        "bus",
        "private",
        "notify",
        "agent.sock",
        "snapd.socket",
        "wayland-0",
        "wayland-1",
        "stockade.sock",
    ];
    // Sockets of servers that run commands: screen, zellij, Emacs, WezTerm, and, with a number after the name, tmux and others.
    const DIRECTORIES: &[&str] = &[
        ".X11-unix",
        "systemd",
        "gnupg",
        "screen",
        "screens",
        "uscreens",
        ".screen",
        "zellij",
        "emacs",
        "wezterm",
    ];
    const NUMBERED: &[&str] = &["tmux-", "emacs", "zellij-"];
    const BEGINNINGS: &[&str] = &["S.gpg-agent", "agent.", "dbus-", "nvim.", "kitty-"];
    let file = name.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let runs_commands = |directory: &str| {
        DIRECTORIES.contains(&directory)
            || NUMBERED
                .iter()
                .any(|name| directory.strip_prefix(name).is_some_and(is_number))
            || directory.starts_with("nvim.")
    };
    NAMES.contains(&file)
        || BEGINNINGS.iter().any(|beginning| file.starts_with(beginning))
        || file.starts_with("vscode-") && file.ends_with(".sock")
        || name
            .ancestors()
            .skip(1)
            .filter_map(|above| above.file_name()?.to_str())
            .any(runs_commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_run_commands_are_powerful_and_their_neighbours_are_not() {
        for name in [
            "/tmp/tmux-1002/esc",
            "/srv/ada/tmux-0/default",
            "/run/screen/S-ada/12.pts-0.host",
            "/home/ada/.screen/12.x",
            "/run/user/1000/zellij/0.41.2/work",
            "/tmp/zellij-1000/0.41.2/work",
            "/tmp/emacs1000/server",
            "/run/user/1000/emacs/server",
            "/run/user/1000/nvim.12.0",
            "/tmp/nvim.ada/x1/nvim.12.0",
            "/run/user/1000/vscode-ipc-1.sock",
            "/tmp/vscode-git-1.sock",
            "/tmp/kitty-12",
            "/run/user/1000/wezterm/gui-sock-12",
            "/run/user/1000/gnupg/S.gpg-agent",
            "/tmp/dbus-x",
            "/run/user/1000/systemd/private",
        ] {
            assert!(is_powerful_socket(Path::new(name)), "{name}");
        }
        for name in [
            "/run/postgresql/.s.PGSQL.5432",
            "/w/tmux-notes/x",
            "/w/app.sock",
            "/tmp/emacs-lisp/x",
        ] {
            assert!(!is_powerful_socket(Path::new(name)), "{name}");
        }
    }
}
