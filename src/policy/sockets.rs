//! Sockets that stand for more than what they are.

use std::path::Path;

/// Sockets behind which somebody does whatever is asked: each needs a grant of its own name.
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
    let file = name.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    let text = name.to_string_lossy();
    NAMES.contains(&file)
        || file.starts_with("S.gpg-agent")
        || file.starts_with("agent.")
        || text.contains("/.X11-unix/")
        || text.contains("/systemd/")
        || text.contains("/gnupg/")
}
