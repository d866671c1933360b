//! Links that the run makes to a secret open nothing, and hard links to one aren't made.

use super::cases::{SUPERVISED, WRITING, attempts, in_tmp, works};
use crate::common::Probe;

const SECRET: &[(&str, &str)] = &[
    (".env", "SECRET"),
    ("secrets/token", "SECRET"),
    ("sub/plain", "plain"),
    ("plain", "plain"),
];

// promise: files.8
#[test]
fn a_symbolic_link_that_the_run_made_in_tmp() {
    let tmp = in_tmp();
    let forms = [
        "l = fresh('@TMP'); os.symlink('@DIR/.env', l); read(l)",
        "l = fresh('@TMP'); os.symlink('@DIR', l); read(l + '/.env')",
        "l = fresh('@TMP'); os.symlink('@DIR/secrets', l); read(l + '/token')",
        "l = fresh('@TMP'); os.symlink('@DIR/sub', l); read(l + '/../.env')",
        "l = fresh('@TMP'); os.symlink('../' * 40 + '@DIR/.env'[1:], l); read(l)",
        "l, m = fresh('@TMP'), fresh('@TMP'); os.symlink('@DIR/.env', l); os.symlink(l, m); read(m)",
        "l = fresh('@TMP'); os.symlink('/proc/self/root@DIR/.env', l); read(l)",
        "l = fresh('@TMP'); os.symlink('/proc/self/cwd/.env', l); os.chdir('@DIR'); read(l)",
        "l = fresh('@TMP'); os.symlink('/proc/thread-self/cwd', l); os.chdir('@DIR'); read(l + '/.env')",
        "l = fresh('@TMP'); p = os.open('@DIR/.env', os.O_PATH); os.symlink('/proc/self/fd/%d' % p, l); read(l)",
        "l = fresh('@TMP'); p = os.open('@DIR', os.O_PATH); os.symlink('/dev/fd/%d' % p, l); read(l + '/.env')",
        "l = fresh('@TMP'); os.symlink('/proc/self', l); os.chdir('@DIR'); read(l + '/cwd/.env')",
        "l = fresh('@TMP'); os.symlink('/proc', l); read(l + '/self/root@DIR/.env')",
        "l = fresh('@TMP'); os.symlink('@DIR/.env', l); openat2(l)",
        "l = fresh('@TMP'); os.symlink('@DIR/.env', l); p = os.open(l, os.O_PATH); read('/proc/self/fd/%d' % p)",
        "l = fresh('@TMP'); os.symlink('.env', l); os.chdir('@DIR'); os.mkdir(l + 'd'); \
         os.symlink('@DIR', l + 'd/e'); read(l + 'd/e/.env')",
        "l = fresh('@TMP'); os.symlink('@DIR/', l); os.chdir(l); read('.env')",
        "os.chdir('@TMP'); l = fresh('.'); os.symlink('@DIR/.env', l); os.open(l, 0, dir_fd=os.open('.', os.O_PATH))",
        "l = fresh('@TMP'); os.symlink('@DIR/.env', l); os.open(l, os.O_RDONLY | os.O_CREAT)",
    ];
    refused_in_tmp(tmp.path(), &forms);
}

fn refused_in_tmp(tmp: &std::path::Path, forms: &[&str]) {
    let forms: Vec<String> = forms
        .iter()
        .map(|form| form.replace("@TMP", tmp.to_str().unwrap()))
        .collect();
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    let reads_plain = format!(
        "l = fresh('{}'); os.symlink('@DIR/plain', l); read(l); os.symlink('@DIR', l + 'd'); read(l + 'd/plain')",
        tmp.display()
    );
    for profile in SUPERVISED {
        let probe = works(Probe::new(), SECRET, &[&reads_plain]);
        attempts(probe, SECRET, &forms).refused(profile, "EACCES");
    }
}

#[test]
fn a_symbolic_link_that_the_run_made_beside_it() {
    for profile in WRITING {
        let probe = works(
            Probe::new(),
            SECRET,
            &["os.symlink('plain', '@DIR/l'); read('@DIR/l'); os.symlink('.', '@DIR/d'); read('@DIR/d/d/plain')"],
        );
        let probe = attempts(
            probe,
            SECRET,
            &[
                "os.symlink('.env', '@DIR/l'); read('@DIR/l')",
                "os.symlink('./sub/../.env', '@DIR/l'); read('@DIR/l')",
                "os.symlink('secrets', '@DIR/l'); read('@DIR/l/token')",
                "os.symlink('.', '@DIR/l'); read('@DIR/l/l/l/.env')",
                "os.symlink('..', '@DIR/sub/up'); read('@DIR/sub/up/.env')",
                "os.symlink('l2', '@DIR/l1'); os.symlink('l3', '@DIR/l2'); os.symlink('.env', '@DIR/l3'); read('@DIR/l1')",
                "call(88, '.env', '@DIR/l'); read('@DIR/l') # symlink",
                "call(266, '.env', AT_FDCWD, '@DIR/l'); read('@DIR/l') # symlinkat",
                "call(266, '.env', os.open('@DIR', os.O_PATH), 'l'); read('@DIR/l') # symlinkat",
                "os.symlink('.env', '@DIR/l'); os.rename('@DIR/l', '@DIR/m'); read('@DIR/m')",
                "os.symlink('.env', '@DIR/l'); os.replace('@DIR/l', '@DIR/plain'); read('@DIR/plain')",
                "os.mkdir('@DIR/deep'); os.symlink('../secrets', '@DIR/deep/pub'); read('@DIR/deep/pub/token')",
                "os.symlink('.env', '@DIR/l'); os.link('@DIR/l', '@DIR/m', follow_symlinks=False); read('@DIR/m')",
            ],
        );
        probe.refused(profile, "EACCES");
    }
}

// promise: secrets.10
#[test]
fn a_hard_link_that_the_run_made() {
    let forms = [
        "os.link('@DIR/.env', '@DIR/h'); read('@DIR/h')",
        "os.link('@DIR/secrets/token', '@DIR/h'); read('@DIR/h')",
        "call(86, '@DIR/.env', '@DIR/h'); read('@DIR/h') # link",
        "call(265, AT_FDCWD, '@DIR/.env', AT_FDCWD, '@DIR/h', 0); read('@DIR/h') # linkat",
        "d = os.open('@DIR', os.O_PATH); call(265, d, '.env', d, 'h', 0); read('@DIR/h') # linkat",
        "os.chdir('@DIR'); os.link('.env', 'sub/h'); read('sub/h')",
        "os.chdir('@DIR/secrets'); os.link('token', '../h'); read('../h')",
        "os.symlink('.env', '@DIR/l'); call(265, AT_FDCWD, '@DIR/l', AT_FDCWD, '@DIR/h', 0x400); read('@DIR/h')",
        "p = os.open('@DIR/.env', os.O_PATH); \
         call(265, AT_FDCWD, '/proc/self/fd/%d' % p, AT_FDCWD, '@DIR/h', 0x400); read('@DIR/h')",
        "? p = os.open('@DIR/.env', os.O_PATH); call(265, p, '', AT_FDCWD, '@DIR/h', 0x1000); read('@DIR/h')",
        "? l = fresh('/tmp'); os.link('@DIR/.env', l); os.unlink(l)",
        "os.symlink('secrets', '@DIR/l'); os.link('@DIR/l/token', '@DIR/h'); read('@DIR/h')",
    ];
    for profile in WRITING {
        let probe = works(
            Probe::new(),
            SECRET,
            &["os.link('@DIR/plain', '@DIR/h'); read('@DIR/h')"],
        );
        attempts(probe, SECRET, &forms).refused(profile, "EACCES|EPERM|EXDEV|ENOENT");
    }
}

// promise: secrets.3
#[test]
fn what_links_inside_of_closed_directories_lead_to_is_closed_by_both_names() {
    let mut probe = Probe::new()
        .file("~/dotfiles/hosts.yml", "x")
        .file("~/dotfiles/keys/work", "x")
        .file("~/dotfiles/u.conf", "x")
        .file("~/dotfiles/u.service", "x")
        .file("~/Documents/letter", "x")
        .file("~/.config/gh/config.yml", "x")
        .file("~/snap/firefox/1/x", "x")
        .file("skill/x", "x")
        .file("~/.ssh/config", "x")
        .file("~/.claude/skills/x", "x")
        .file("~/.config/environment.d/x", "x")
        .file("~/.config/systemd/user/x", "x")
        .link("~/.config/gh/hosts.yml", "../../dotfiles/hosts.yml")
        .link("~/.ssh/more", "@HOME/dotfiles/keys")
        .link("~/.ssh/home", "@HOME")
        .link("~/.ssh/sh", "/bin/sh")
        .link("~/snap/firefox/1/Documents", "@HOME/Documents")
        .link("~/.config/environment.d/u.conf", "../../dotfiles/u.conf")
        .link("~/.config/systemd/user/u.service", "../../../dotfiles/u.service")
        .link("~/.claude/skills/mine", "@ROOT/skill")
        .works("read('@HOME/Documents/letter'); read('/bin/sh'); write('@ROOT/skill/x')");
    for (closed, behind) in [(".config/gh/hosts.yml", "hosts.yml"), (".ssh/more/work", "keys/work")] {
        for path in [closed, &format!("dotfiles/{behind}")] {
            probe = probe.attempt(&format!("read('@HOME/{path}')"));
            probe = probe.attempt(&format!("write('@HOME/{path}', 'ab')"));
        }
    }
    for path in [
        ".config/environment.d/u.conf",
        "dotfiles/u.conf",
        ".config/systemd/user/u.service",
        "dotfiles/u.service",
    ] {
        probe = probe.works(&format!("read('@HOME/{path}')"));
        probe = probe.attempt(&format!("write('@HOME/{path}', 'ab')"));
    }
    probe.refused("trusted", "EACCES");
}

// promise: guarded.9
#[test]
fn what_guarded_links_of_a_project_lead_to() {
    for profile in WRITING {
        let mut probe = Probe::new()
            .file("scripts/pre-commit", "x")
            .file("conf/tasks.json", "x")
            .file("shared/servers.json", "x")
            .file("shared/hook.sh", "x")
            .file("shared/plain", "x")
            .file(".claude/own.sh", "x")
            .file(".git/hooks/own", "x")
            .link(".git/hooks/pre-commit", "../../scripts/pre-commit")
            .link(".vscode", "conf")
            .link(".mcp.json", "shared/servers.json")
            .link(".claude/settings.json", "../shared/hook.sh")
            .link(".claude/project", "..")
            .file("shared/lint.sh", "x")
            .file("shared/dev.txt", "SECRET")
            .file("lab/duo/mcp.json", "x")
            .file("hg/hgrc", "x")
            .file(".agents/skills/own", "x")
            .file("src/a.rs", "x")
            .file("z/vs/x", "x")
            .file("sub/x", "x")
            .file("tools/token", "SECRET")
            .file("secrets/own", "SECRET")
            .link("secrets/other", "../tools/token")
            .link("conf/lint", "../shared/lint.sh")
            .link(".agents/src", "../src")
            .link(".agents/tmp", "/tmp")
            .link(".gitlab", "lab")
            .link(".hg", "hg")
            .link(".env", "shared/dev.txt")
            .link(".roo", "loop")
            .link("loop", ".roo")
            .link(".kiro", "sub/../kiro")
            .works("read('@ROOT/scripts/pre-commit'); write('@ROOT/shared/plain', 'ab'); write('@ROOT/other', 'ab'); write('@ROOT/src/a.rs', 'ab')");
        for path in [
            "tools/token",
            "shared/lint.sh",
            "shared/dev.txt",
            "lab/duo/mcp.json",
            "hg/hgrc",
            ".git/hooks/pre-commit",
            "scripts/pre-commit",
            "conf/tasks.json",
            "shared/servers.json",
            ".mcp.json",
            "shared/hook.sh",
        ] {
            probe = probe.attempt(&format!("write('@ROOT/{path}', 'ab')"));
        }
        probe = probe
            .attempt("open('@ROOT/conf/new.json', 'w')")
            .attempt("os.rename('@ROOT/shared/hook.sh', '@ROOT/shared/hook.old')")
            .attempt("read('@ROOT/shared/dev.txt')")
            .attempt("os.rename('@ROOT/loop', '@ROOT/l2'); os.mkdir('@ROOT/loop'); open('@ROOT/loop/mcp.json', 'w')")
            .attempt("os.rename('@ROOT/sub', '@ROOT/sub2'); os.symlink('z/vs', '@ROOT/sub')");
        probe.refused(profile, "EACCES|EPERM");
    }
}

// promise: guarded.7
#[test]
fn what_git_obeys_behind_links_in_a_repository() {
    /// Files, links, and what is to be closed.
    type Layout = (&'static [Pair], &'static [Pair], &'static [&'static str]);
    type Pair = (&'static str, &'static str);
    let layouts: [Layout; 6] = [
        (
            &[
                ("dir/hooks/own", "x"),
                ("dir/config", "x"),
                ("dir/info/attributes", "x"),
            ],
            &[(".git", "dir")],
            &[
                "dir/config",
                "dir/hooks/pre-commit",
                "dir/info/attributes",
                "dir/commondir",
            ],
        ),
        (
            &[
                ("one/config", "x"),
                (".git/own", "x"),
                ("inf/attributes", "x"),
                ("mods/s/config", "x"),
            ],
            &[
                (".git/config", "../one/config"),
                (".git/info", "../inf"),
                (".git/modules", "../mods"),
            ],
            &["one/config", "inf/attributes", "mods/s/config", "mods/s/hooks/x"],
        ),
        (
            &[("dot", "gitdir: dir\n"), ("dir/config", "x"), ("hk/own", "x")],
            &[(".git", "dot"), ("dir/hooks", "../hk")],
            &["dot", "dir/config", "hk/pre-commit"],
        ),
        (
            &[(".git", "gitdir: through\n"), ("dir/config", "x")],
            &[("through", "dir")],
            &["dir/config", "through/config"],
        ),
        (
            &[
                (".git/HEAD", "ref: x\n"),
                (".git/modules/a/sub/HEAD", "ref: x\n"),
                ("tools/pc", "x"),
                ("hk/own", "x"),
                ("wt/config", "x"),
                (".git/worktrees/w/HEAD", "ref: x\n"),
                (".git/modules/b/HEAD", "ref: x\n"),
                (".git/modules/a/sub/hooks/own", "x"),
            ],
            &[
                (".git/modules/a/sub/hooks/pre-commit", "../../../../../tools/pc"),
                (".git/modules/b/hooks", "../../../hk"),
                (".git/worktrees/w/config.worktree", "../../../wt/config"),
            ],
            &["tools/pc", "hk/pre-commit", "wt/config"],
        ),
        (
            &[("other/dir/config", "x")],
            &[("two", "other/dir"), (".git", "two")],
            &["other/dir/config", "two/hooks/x"],
        ),
    ];
    for profile in ["workspace", "trusted"] {
        for (files, links, closed) in &layouts {
            let mut probe = Probe::new().file("plain", "x").works("write('@ROOT/plain', 'ab')");
            for (path, content) in *files {
                probe = probe.file(path, content);
            }
            for (link, target) in *links {
                probe = probe.link(link, target);
            }
            for path in *closed {
                probe = probe.attempt(&format!(
                    "os.makedirs(os.path.dirname('@ROOT/{path}'), exist_ok=True); open('@ROOT/{path}', 'a').write('x')"
                ));
            }
            for (link, _) in *links {
                probe = probe.attempt(&format!(
                    "os.rename('@ROOT/{link}', '@ROOT/x'); os.rename('@ROOT/x', '@ROOT/{link}')"
                ));
            }
            probe.refused(profile, "EACCES|EPERM");
        }
    }
}

#[test]
fn a_directory_that_is_gone() {
    let forms = [
        "os.mkdir('@DIR/gone'); d = os.open('@DIR/gone', os.O_PATH); os.rmdir('@DIR/gone'); os.open('../.env', 0, dir_fd=d)",
        "os.mkdir('@DIR/gone'); os.chdir('@DIR/gone'); os.rmdir('@DIR/gone'); read('../.env')",
        "os.mkdir('@DIR/gone'); d = os.open('@DIR/gone', os.O_PATH); os.rmdir('@DIR/gone'); \
         read('/proc/self/fd/%d/../.env' % d)",
        "os.mkdir('@DIR/gone'); os.chdir('@DIR/gone'); os.rmdir('@DIR/gone'); read('/proc/self/cwd/../.env')",
        "os.mkdir('@DIR/gone'); d = os.open('@DIR/gone', os.O_RDONLY); os.rename('@DIR/gone', '@DIR/sub/gone'); \
         os.open('../../.env', 0, dir_fd=d)",
        "os.mkdir('@DIR/gone'); os.chdir('@DIR/gone'); os.rename('@DIR/gone', '@DIR/sub/gone'); read('../../.env')",
    ];
    for profile in WRITING {
        attempts(Probe::new(), SECRET, &forms).refused(profile, "EACCES|ENOENT");
    }
}
