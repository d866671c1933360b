//! Races: what a call is asked about changes while it is judged. The attackers are C programs in `attackers/`, built
//! when the tests run; each first reaches its goal unconfined.

use super::race::Race;

const NONE: &[(&str, &str)] = &[];

/// A path in memory, between two names of one length.
fn path(profile: &str, call: &str, files: &[(&str, &str)], open: &str, closed: &str) {
    let race = Race {
        attacker: "path",
        words: &[call, open, closed],
        files,
        links: NONE,
        beside: "",
    };
    race.is_held(profile);
}

const SECRET: &[(&str, &str)] = &[("plain", "plain"), (".envx", "SECRET")];

// promise: files.11
#[test]
fn a_path_in_memory_that_is_opened() {
    for call in ["open-read", "openat-read", "openat2-read", "open-path"] {
        path("workspace", call, SECRET, "./plain", "./.envx");
    }
}

#[test]
fn a_path_in_memory_that_is_opened_in_wide_profiles() {
    for profile in ["filesystem", "mcp-standard", "trusted"] {
        path(profile, "open-read", SECRET, "./plain", "./.envx");
    }
    let files = &[("plain", "plain"), ("longer/name/server.pem", "SECRET")];
    path("workspace", "open-read", files, "plain", "longer/name/server.pem");
}

const HOOK: &[(&str, &str)] = &[
    ("plain/x", "plain"),
    (".git/hooks/x", "SECRET"),
    (".git/HEAD", "ref: x\n"),
    (".git/plain/y", ""),
];

// promise: files.11
#[test]
fn a_path_in_memory_that_is_written() {
    for call in ["open-write", "open-truncate", "creat", "truncate"] {
        path("workspace", call, SECRET, "./plain", "./.envx");
        path("workspace", call, HOOK, "plain/x", ".git/hooks/x");
    }
}

#[test]
fn a_path_in_memory_that_is_made() {
    for call in ["create", "creat", "link-to", "symlink-to", "mkdir", "mknod", "bind"] {
        path("workspace", call, &[("x", "")], "./plain", "./.envx");
    }
}

#[test]
fn a_path_in_memory_that_is_moved_or_removed() {
    for call in ["unlink", "rename-from", "rename-to", "exchange", "link-from"] {
        path("workspace", call, SECRET, "./plain", "./.envx");
    }
    path("workspace", "rename-to", HOOK, "plain/x", ".git/hooks/x");
}

#[test]
fn a_path_in_memory_whose_metadata_changes() {
    for call in ["chmod", "chown", "utimensat", "setxattr"] {
        path("workspace", call, SECRET, "./plain", "./.envx");
        path("workspace", call, HOOK, "plain/x", ".git/hooks/x");
    }
}

/// A descriptor's number, between an open file and a guarded one.
fn descriptor(call: &str) {
    let files = &[("plain", "plain"), (".mcp.json", "guarded")];
    let words = &[call, "plain", ".mcp.json", ".mcp.json"];
    Race {
        attacker: "descriptor",
        words,
        files,
        links: NONE,
        beside: "",
    }
    .is_held("workspace");
}

#[test]
fn the_number_of_a_descriptor_whose_metadata_changes() {
    for call in [
        "fchmod",
        "fchown",
        "futimens",
        "fsetxattr",
        "fchmodat2",
        "fchownat",
        "setxattrat",
        "proc-chmod",
    ] {
        descriptor(call);
    }
}

#[test]
fn the_number_of_a_descriptor_that_is_opened_again() {
    for call in ["proc-open", "proc-truncate", "linkat"] {
        descriptor(call);
    }
}

/// A directory's number, or the current directory, between an open directory and a closed one.
fn directory(call: &str, closed: &str, watched: &str) {
    let files = &[
        ("d/x", "plain"),
        (".git/hooks/x", "guarded"),
        (".git/HEAD", "ref: x\n"),
        ("secrets/x", "SECRET"),
    ];
    let words = &[call, "d", closed, watched];
    Race {
        attacker: "descriptor",
        words,
        files,
        links: NONE,
        beside: "",
    }
    .is_held("workspace");
}

#[test]
fn the_number_of_a_directory() {
    for call in ["openat-write", "fchmodat", "renameat-to"] {
        directory(call, ".git/hooks", ".git/hooks/x");
    }
    directory("mkdirat", ".git/hooks", ".git/hooks/new");
    directory("openat-read", "secrets", "secrets/x");
}

#[test]
fn the_current_directory() {
    for call in ["cwd-write", "cwd-chmod"] {
        directory(call, ".git/hooks", ".git/hooks/x");
    }
    directory("cwd-read", "secrets", "secrets/x");
}

/// A symbolic link, or a component that is one, exchanged with another.
fn name(call: &str, path: &str, to: [&str; 2], closed: &str) {
    let files = &[
        ("plain", "plain"),
        (".env", "SECRET"),
        ("d/x", "plain"),
        ("secrets/x", "SECRET"),
        (".git/hooks/x", "guarded"),
        (".git/HEAD", "ref: x\n"),
        (".mcp.json", "guarded"),
    ];
    let links = &[("flip", to[0]), ("flip.2", to[1])];
    let words = &[call, "flip", path, closed];
    Race {
        attacker: "name",
        words,
        files,
        links,
        beside: "",
    }
    .is_held("workspace");
}

// promise: files.12
#[test]
fn a_symbolic_link() {
    for call in ["read", "read-by-path", "link-from"] {
        name(call, "flip", ["plain", ".env"], ".env");
    }
    for call in ["write", "truncate", "chmod", "setxattr"] {
        name(call, "flip", ["plain", ".mcp.json"], ".mcp.json");
    }
}

#[test]
fn a_directory_that_is_a_symbolic_link() {
    for call in ["read", "read-by-path", "link-from"] {
        name(call, "flip/x", ["d", "secrets"], "secrets/x");
    }
    for call in ["write", "truncate", "chmod", "rename-to"] {
        name(call, "flip/x", ["d", ".git/hooks"], ".git/hooks/x");
    }
    name("create", "flip/new", ["d", ".git/hooks"], ".git/hooks/new");
}

/// Where moving it is refused, there's nothing to race with, which is as well.
// promise: files.12
#[test]
fn a_directory_that_moves_below_the_feet() {
    let files = &[
        ("p/q/flip/x", ""),
        ("p/config", "plain"),
        (".git/objects/y", ""),
        (".git/config", "guarded"),
        (".git/HEAD", "ref: x\n"),
    ];
    let words = &["move-write", "p/q/flip", "../../config", ".git/config"];
    Race {
        attacker: "name",
        words,
        files,
        links: NONE,
        beside: "",
    }
    .is_held("workspace");
}

#[test]
fn the_flags_of_an_open() {
    let race = Race {
        attacker: "memory",
        words: &["how-flags", ".mcp.json"],
        files: &[(".mcp.json", "guarded")],
        links: NONE,
        beside: "",
    };
    race.is_held("workspace");
    race.is_held("trusted");
}

#[test]
fn the_address_of_a_socket() {
    let greets = "import os, socket\n\
        s = socket.socket(socket.AF_UNIX); s.bind('@ROOT/out'); s.listen(100)\n\
        print('ready', flush=True)\n\
        while True:\n  \
          c = s.accept()[0]\n  \
          try: c.send(b'SECRET')\n  \
          except OSError: pass\n  \
          c.close()\n";
    let race = Race {
        attacker: "memory",
        words: &["address", "out"],
        files: NONE,
        links: NONE,
        beside: greets,
    };
    for profile in ["workspace", "trusted"] {
        race.is_held(profile);
    }
}
