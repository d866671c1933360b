//! `filesystem`, `mcp-standard`, `trusted` and `workspace`: wide, and still closed where every profile is.

use crate::common::{Probe, run};

fn homes_secrets() -> Probe {
    let secrets = [
        "~/.ssh/id_ed25519",
        "~/.aws/credentials",
        "~/.gnupg/key",
        "~/.netrc",
        "~/.docker/config.json",
        "~/.bash_history",
        "~/.local/state/stockade/store",
        "~/.config/stockade/profiles/own.toml",
    ];
    let mut probe = Probe::new().file("notes.txt", "n").file("~/documents/letter", "l");
    for secret in secrets {
        let filled = secret.replace("~", "@HOME");
        let text = if secret.ends_with(".toml") {
            "version = 1\nname = \"own\"\ndescription = \"x\"\n"
        } else {
            "secret"
        };
        probe = probe.file(secret, text).attempt(&format!("read('{filled}')"));
    }
    probe
}

// promise: secrets.1
#[test]
fn mcp_standard_reads_all_but_secrets() {
    homes_secrets()
        .works("read('notes.txt')")
        .works("read('@HOME/documents/letter')")
        .attempt("write('notes.txt')")
        .attempt("write('@HOME/documents/letter')")
        .attempt("write('@HOME/.ssh/authorized_keys')")
        .refused("mcp-standard", "EACCES");
}

// promise: guarded.1
#[test]
fn trusted_writes_all_but_secrets_and_guarded_names() {
    homes_secrets()
        .file("~/.bashrc", "# start-up\n")
        .works("write('notes.txt')")
        .works("write('@HOME/documents/letter')")
        .works("read('@HOME/.bashrc')")
        .attempt("write('@HOME/.bashrc')")
        .attempt("os.unlink('@HOME/.bashrc')")
        .attempt("write('@HOME/.ssh/authorized_keys')")
        .attempt("os.rename('@HOME/.ssh', '@HOME/ssh')")
        .attempt("os.rename('@HOME/.netrc', '@ROOT/netrc')")
        .attempt("os.link('@HOME/.bash_history', '@ROOT/history')")
        .refused("trusted", "EACCES|EXDEV");
}

#[test]
fn a_secret_that_appears_later_is_closed_too() {
    // The home has no .ssh at launch.
    Probe::new()
        .attempt("os.mkdir('@HOME/.ssh')")
        .attempt("write('@HOME/.netrc')")
        .refused("trusted", "EACCES");
}

// promise: secrets.3
#[test]
fn secrets_behind_links_are_closed_where_they_lie() {
    // As managers of dot files keep them. Nothing is in the linked `.config` yet.
    Probe::new()
        .file("~/dot/ssh/id", "k")
        .link("~/.ssh", "@HOME/dot/ssh")
        .file("~/dot/config/other", "o")
        .link("~/.config", "@HOME/dot/config")
        .works("read('@HOME/.config/other')")
        .attempt("read('@HOME/.ssh/id')")
        .attempt("read('@HOME/dot/ssh/id')")
        .attempt("write('@HOME/dot/ssh/new')")
        .attempt("os.mkdir('@HOME/dot/config/gh')")
        .refused("trusted", "EACCES");
}

#[test]
fn wide_profiles_look_into_no_other_users_shadow() {
    if !crate::common::is_root() {
        crate::common::skipped("only root may read /etc/shadow unconfined");
        return;
    }
    for profile in ["mcp-standard", "trusted"] {
        Probe::new().attempt("read('/etc/shadow')").refused(profile, "EACCES");
    }
}

#[test]
fn filesystem_reads_its_root_and_writes_only_tmp() {
    let shared = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
    Probe::new()
        .file("notes.txt", "n")
        .file("~/letter", "l")
        .works("read('notes.txt')")
        .works(&format!("write('{}/result')", shared.path().display()))
        .attempt("write('notes.txt')")
        .attempt("write('new')")
        .attempt("os.unlink('notes.txt')")
        .attempt("read('@HOME/letter')")
        .refused("filesystem", "EACCES");
}

#[test]
fn workspace_writes_its_root_and_nothing_beside_it() {
    Probe::new()
        .file("notes.txt", "n")
        .file("~/letter", "l")
        .works("write('notes.txt'); write('new'); os.rename('new', 'renamed'); os.unlink('renamed')")
        .works("os.chmod('notes.txt', 0o600)")
        .attempt("write('@HOME/letter')")
        .attempt("read('@HOME/letter')")
        .attempt("write('@ROOT/../beside')")
        .refused("workspace", "EACCES");
}

#[test]
fn files_move_between_directories_that_may_be_written() {
    for profile in ["workspace", "trusted"] {
        Probe::new()
            .file("a/x", "x")
            .file("a/y", "y")
            .file("b/z", "z")
            .file("d/e/f", "f")
            .works("os.rename('a/x', 'b/x')")
            .works("os.link('a/y', 'b/y')")
            .works("os.rename('d/e', 'b/e')")
            .refused(profile, "ok");
    }
}

#[test]
fn profiles_without_named_hosts_lack_nothing() {
    for profile in [
        "minimal",
        "readonly",
        "filesystem",
        "mcp-standard",
        "network-api",
        "trusted",
        "workspace",
    ] {
        run().profile(profile).ends();
    }
}

/// Another user may have taken the usual name when a run began, and given it back.
#[test]
fn all_places_of_scratch_directories_are_closed() {
    let name = format!("stockade-{}-", nix::unistd::getuid());
    let other = tempfile::Builder::new().prefix(&name).tempfile_in("/var/tmp").unwrap();
    let path = other.path().display();
    for profile in ["mcp-standard", "trusted"] {
        Probe::new()
            .attempt(&format!("read('{path}')"))
            .attempt(&format!("write('{path}', 'ab')"))
            .attempt(&format!("os.mkdir('{path}x'); os.rmdir('{path}x')"))
            .refused(profile, "EACCES");
    }
}
