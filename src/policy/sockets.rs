//! Secrets and guarded paths: closed in every profile and every mode, `trusted` too.

use std::path::{Path, PathBuf};

/// Secret by pattern: neither read nor written, wherever they are, but for exempt grants.
///
/// `credentials` counts with the endings of data, not of source code.
pub const SECRET_PATTERNS: &[&str] = &[
    "**/.env",
    "**/.env*",
    "**/secrets/**",
    "**/*.pem",
    "**/*.key",
    "**/credentials",
    "**/credentials*.{json,yaml,yml,toml,ini,csv,txt}",
];

/// Guarded: readable, never written, since the host later executes or trusts them. What is guarded in a `.git` has a
/// target of its own.
pub const GUARDED: &[&str] = &[
    "**/.envrc",
    "**/.vscode/**",
    "**/.claude/**",
    "**/.mcp.json",
    "**/.stockade/**",
];

/// Below the caller's home: keys, tokens, password stores, browsers, histories.
const HOME_SECRETS: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".docker/config.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/op",
    ".config/containers/auth.json",
    ".local/share/keyrings",
    ".password-store",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".sqlite_history",
    ".mysql_history",
    ".local/share/fish/fish_history",
];

/// Files that only the host's user may change: start-up files of shells and desktops.
const HOME_GUARDED: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".bash_aliases",
    ".xprofile",
    ".xsessionrc",
    ".config/environment.d",
    ".local/share/systemd",
    ".cargo/config",
    ".cargo/config.toml",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".gitconfig",
    ".config/git",
];

/// Of the machine.
const MACHINE_SECRETS: &[&str] = &[
    "/etc/ssl/private",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/var/lib/sss",
    "/var/spool/cron",
];

/// Secret by name: absolute paths that are closed for reading and writing everywhere, Stockade's own files among
/// them (`own`: its configuration and state directories).
pub fn secret_names(home: Option<&Path>, own: &[PathBuf]) -> Vec<PathBuf> {
    let of_home = home
        .into_iter()
        .flat_map(|home| HOME_SECRETS.iter().map(move |name| home.join(name)));
    MACHINE_SECRETS
        .iter()
        .map(PathBuf::from)
        .chain(of_home)
        .chain(own.iter().cloned())
        .collect()
}

/// Guarded by name: absolute paths below the caller's home, crontabs, and what the user starts by name (`programs`).
pub fn guarded_names(home: Option<&Path>, programs: &[PathBuf]) -> Vec<PathBuf> {
    let of_home = home
        .into_iter()
        .flat_map(|home| HOME_GUARDED.iter().map(move |name| home.join(name)));
    of_home
        .chain([PathBuf::from("/etc/crontab")])
        .chain(programs.iter().cloned())
        .collect()
}

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
