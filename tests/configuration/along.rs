//! What comes along of the user's own settings into a run with a home of its own.

use std::process::Command;

use super::stockade;
use crate::common::{Place, finish};

const COMMIT: &str = "git init -q -b main . && git commit -q --allow-empty -m one";

fn git(place: &Place, words: &[&str]) -> String {
    let mut command: Command = place.command("git");
    finish(command.args(words), b"").stdout()
}

/// Standard output and error of a line of shell under `workspace`.
fn shell(place: &Place, flags: &[&str], line: &str) -> [String; 2] {
    let profile: &[&str] = if flags.contains(&"--profile") {
        &[]
    } else {
        &["--profile", "workspace"]
    };
    let words = [&["run", "--ask", "never"], profile, flags, &["--", "bash", "-c", line]].concat();
    let finished = stockade(place, &words);
    [finished.stdout(), finished.stderr()]
}

#[test]
fn settings_of_git_come_along_unless_they_execute() {
    let place = Place::new();
    place.file(
        "~/.gitconfig",
        "[core]\n\tautocrlf = input\n\tpager = touch pager\n\tsshCommand = x\n[diff]\n\texternal = touch diff\n\trenames\n\
         [diff \"Py\"]\n\txfuncname = ^def\n\ttextconv = touch x\n[filter \"f\"]\n\tclean = touch x\n\
         [alias]\n\tst = status -sb\n\tx = !touch x\n\ty = -c core.pager=x log\n[credential]\n\thelper = store\n\
         [gpg]\n\tprogram = touch\n[include]\n\tpath = more\n[includeIf \"gitdir:@HOME/../root/\"]\n\tpath = here\n\
         [url \"https://u:pw@git.example.com/\"]\n\tinsteadOf = x:\n[pull]\n\trebase = true\n"
            .replace("@HOME", place.home.to_str().unwrap()),
    );
    place.file("~/more", "[merge]\n\tconflictStyle = zdiff3\n");
    place.file("~/here", "[init]\n\tdefaultBranch = trunk\n");
    place.file("~/.config/git/config", "[core]\n\tautocrlf = true\n\teol = lf\n");
    git(&place, &["init", "-q"]);
    git(&place, &["config", "pull.rebase", "false"]);
    assert!(git(&place, &["config", "--list"]).contains("diff.external=touch diff"));
    let expected = "alias.st=status -sb\ncore.autocrlf=input\ncore.autocrlf=true\ncore.eol=lf\ndiff.Py.xfuncname=^def\ndiff.renames=true\n\
                    init.defaultbranch=trunk\nmerge.conflictstyle=zdiff3\nfalse\ninput\n";
    let line = "git config --list --show-origin | sed -n 's/^command line:\\s*//p' | sort; git config pull.rebase; git config core.autocrlf";
    assert_eq!(shell(&place, &[], line), [expected, ""]);
}

#[test]
fn the_name_for_commits_is_the_repositorys_own_where_it_has_one() {
    let place = Place::new();
    place.file("~/.gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.org\n");
    git(&place, &["init", "-q"]);
    git(&place, &["config", "user.email", "work@example.com"]);
    let line = "git commit -q --allow-empty -m one; git log --format='%an %ae'";
    assert_eq!(shell(&place, &[], line), ["Ann work@example.com\n", ""]);
}

#[test]
fn files_of_ignored_names_come_along_unless_they_are_closed() {
    let place = Place::new();
    place.file("~/.config/git/ignore", "*.usual\n");
    let line = "git init -q .; touch a.usual a.named b; git status --porcelain";
    assert_eq!(shell(&place, &[], line), ["?? a.named\n?? b\n", ""]);
    place.file("~/.gitconfig", "[core]\n\texcludesFile = ~/names\n");
    place.file("~/names", "*.named\n");
    assert_eq!(shell(&place, &[], line), ["?? a.usual\n?? b\n", ""]);
    for (text, why) in [
        ("x", "is denied"),
        ("-----BEGIN PRIVATE KEY-----", "holds a private key"),
    ] {
        place.file("~/names", text);
        let flags: &[&str] = if text == "x" { &["--deny", "~/names"] } else { &[] };
        let [stdout, stderr] = shell(&place, flags, line);
        assert_eq!(stdout, "?? a.named\n?? a.usual\n?? b\n");
        let told = format!(
            "stockade: `core.excludesfile` doesn't come along: `{}` {why}\n",
            place.path("~/names").display()
        );
        assert_eq!(stderr, told);
    }
}

/// A file of the project may be a run's.
#[test]
fn no_setting_is_read_where_runs_write() {
    let place = Place::new();
    place.file(
        "theirs",
        "[core]\n\texcludesFile = ~/private\n[pull]\n\trebase = true\n",
    );
    place.file("~/private", "secret.txt\n");
    let included = place.path("theirs").display().to_string();
    place.file("~/.gitconfig", format!("[include]\n\tpath = {included}\n"));
    git(&place, &["init", "-q"]);
    assert_eq!(git(&place, &["config", "pull.rebase"]), "true\n");
    let line = "git config pull.rebase; git config core.excludesFile; cat @HOME/private 2>&1 | grep -c denied";
    let told = format!("stockade: `{included}` is no setting of git here: runs write there\n");
    assert_eq!(shell(&place, &[], &place.fill(line)), ["1\n".into(), told]);
}

#[test]
fn a_run_that_reaches_no_key_commits_unsigned_and_says_so_once() {
    let place = Place::new();
    place.file(
        "~/.gitconfig",
        "[user]\n\tname = Ann\n\temail = ann@example.org\n\tsigningkey = ABCD\n[commit]\n\tgpgsign = true\n",
    );
    let bare = finish(place.command("bash").args(["-c", COMMIT]), b"");
    assert!(!bare.status.success(), "git signs: {}", bare.stderr());
    let line = "git commit -q --allow-empty -m one && git log --format=%s%G?";
    let told = "stockade: commits will be unsigned: this run reaches no signing key and no agent\n";
    for profile in ["workspace", "trusted"] {
        assert_eq!(
            shell(&place, &["--profile", profile], line),
            ["oneN\n", told],
            "{profile}"
        );
        std::fs::remove_dir_all(place.path(".git")).unwrap();
        git(&place, &["init", "-q"]);
    }
    assert_eq!(shell(&place, &[], "echo hello"), ["hello\n", ""]);
}

#[test]
fn a_key_that_a_granted_agent_of_sshs_holds_signs() {
    let place = Place::new();
    let made = "ssh-keygen -q -t ed25519 -N '' -f \"$HOME/.ssh/id\" && ssh-agent -a \"$HOME/agent\" >\"$HOME/pid\" && \
                SSH_AUTH_SOCK=\"$HOME/agent\" ssh-add -q \"$HOME/.ssh/id\"";
    place.file("~/.ssh/config", "");
    if !finish(place.command("bash").args(["-c", made]), b"").status.success() {
        crate::common::skipped("no agent of ssh's starts here");
        return;
    }
    place.file(
        "~/.gitconfig",
        "[user]\n\tname = Ann\n\temail = ann@example.org\n\tsigningkey = ~/.ssh/id\n[commit]\n\tgpgsign = true\n[gpg]\n\tformat = ssh\n",
    );
    git(&place, &["init", "-q"]);
    let socket = place.path("~/agent").display().to_string();
    let variable = format!("SSH_AUTH_SOCK={socket}");
    let line = "git commit -q --allow-empty -m one && git cat-file commit HEAD | grep -c 'BEGIN SSH SIGNATURE'";
    let signed = shell(&place, &["--socket", &socket, "--env", &variable], line);
    let ended = ". \"$HOME/pid\" >/dev/null; kill \"$SSH_AGENT_PID\"";
    finish(place.command("bash").args(["-c", ended]), b"");
    assert_eq!(signed, ["1\n", ""]);
}

/// Prints the variable and, of a directory, all that it holds.
const SHOW: &str = "echo \"$SSL_CERT_FILE\" \"$SSL_CERT_DIR\"; cat \"$SSL_CERT_FILE\" 2>/dev/null; cat \"$SSL_CERT_DIR\"/* 2>/dev/null; true";

#[test]
fn certificates_that_variables_name_come_along_into_a_run_with_a_network_and_nothing_else_does() {
    let certificate = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
    let place = Place::new();
    place.file("~/ca/one.crt", certificate);
    place.file("~/keys/key.crt", "-----BEGIN PRIVATE KEY-----\n");
    place.file("~/mixed/ca.crt", certificate);
    place.file("~/mixed/notes", "mine");
    place.file("~/deep/ca/ca.crt", certificate);
    place.file("~/.aws/ca.crt", certificate);
    place.file("~/named/corp.pem", certificate);
    let told = |file: &str, directory: &str, profile: &str| {
        let mut command = place.command(crate::common::STOCKADE);
        command.args(["run", "--ask", "never", "--profile", profile, "--", "bash", "-c", SHOW]);
        let [file, directory] = [file, directory].map(|name| place.path(name));
        let finished = finish(command.env("SSL_CERT_FILE", file).env("SSL_CERT_DIR", directory), b"");
        let home = place.home.to_str().unwrap();
        (
            finished.stdout().replace(home, "~"),
            finished.stderr().replace(home, "~"),
        )
    };
    let (shown, said) = told("~/ca/one.crt", "~/ca", "network-api");
    assert_eq!(
        (shown, said),
        (format!("~/ca/one.crt ~/ca\n{certificate}{certificate}"), String::new())
    );
    assert_eq!(told("~/ca/one.crt", "~/ca", "readonly"), (" \n".into(), String::new()));
    let refused = [
        (
            "~/named/corp.pem",
            "~/named",
            "`~/named/corp.pem` has the name of a secret",
            "`~/named/corp.pem` has the name of a secret",
        ),
        (
            "~/keys/key.crt",
            "~/keys",
            "`~/keys/key.crt` holds a private key",
            "`~/keys/key.crt` holds a private key",
        ),
        (
            "~/mixed/notes",
            "~/mixed",
            "`~/mixed/notes` holds no certificate",
            "`~/mixed/notes` holds no certificate",
        ),
        (
            "~/.aws/ca.crt",
            "~/deep",
            "`~/.aws/ca.crt` is closed to every run",
            "`~/deep` isn't a directory of certificates",
        ),
    ];
    for (file, directory, of_file, of_directory) in refused {
        let said = format!(
            "stockade: `SSL_CERT_FILE` doesn't come along: {of_file}\nstockade: `SSL_CERT_DIR` doesn't come along: {of_directory}\n"
        );
        assert_eq!(told(file, directory, "network-api"), (" \n".into(), said));
    }
}
