//! What comes along of the user's own settings into a run with a home of its own.

use std::process::Command;

use super::stockade;
use crate::common::{Place, STOCKADE, UNDER_WORKSPACE, finish, python};

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

// promise: caller.5
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
fn settings_of_git_come_along_into_a_run_inside_a_run() {
    let place = Place::new();
    place.file(
        "~/.gitconfig",
        "[pull]\n\trebase = true\n[diff \"A.b\"]\n\tbinary = true\n[user]\n\tname = Ann\n",
    );
    git(&place, &["init", "-q"]);
    let inner = format!(
        "{} run --ask never --profile workspace -- bash -c 'git config pull.rebase; git config diff.A.b.binary; git var GIT_AUTHOR_IDENT' | cut -d\" \" -f1",
        crate::common::STOCKADE
    );
    let flags = [
        "--exec",
        crate::common::STOCKADE.path(),
        "--env",
        "GIT_AUTHOR_EMAIL=a@example.org",
    ];
    assert_eq!(shell(&place, &flags, &inner), ["true\ntrue\nAnn\n", ""]);
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
// promise: caller.6
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
    // The user's own file may be a link to it: it names no file that the run is given.
    let own = place.path("~/.gitconfig");
    std::fs::remove_file(&own).unwrap();
    std::os::unix::fs::symlink(&included, &own).unwrap();
    let told = format!("stockade: `core.excludesfile` doesn't come along: runs write `{included}`\n");
    assert_eq!(shell(&place, &[], &place.fill(line)), ["true\n1\n".into(), told]);
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

// promise: caller.5
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
        let mut command = place.command(STOCKADE);
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

const REGISTRIES: &str = "import os; print('\\n'.join(sorted(f'{name}={value}' for name, value in os.environ.items() \
                          if name.lower().startswith(('npm_config_', 'pip_', 'uv_', 'cargo_reg')) and '.example.com' in value)))";

fn registries(place: &Place, variables: &[(&str, &str)]) -> String {
    let mut command = place.command(STOCKADE);
    command.args(UNDER_WORKSPACE).args([python(), "-c", REGISTRIES]);
    finish(command.envs(variables.iter().copied()), b"").stdout()
}

// promise: caller.5
#[test]
fn addresses_of_registries_come_along_without_what_proves_who_the_user_is() {
    let place = Place::new();
    place.file(
        "~/.npmrc",
        "registry=https://npm.example.com/\n@acme:registry = https://ann:pw@acme.example.com/npm\n\
         @open:registry=https://open.example.com/\n//acme.example.com/:_authToken=sesame\n",
    );
    place.file(".npmrc", "@open:registry=https://project.example.com/\n");
    place.file("~/.pip/pip.conf", "[global]\nindex-url = https://old.example.com/\n");
    place.file(
        "~/.config/pip/pip.conf",
        "[global]\nindex-url = https://ann:pw@pip.example.com/simple\nextra-index-url =\n  https://one.example.com/\n  https://two.example.com/\n",
    );
    let uv = "[[index]]\nurl = 'https://uv.example.com/'\ndefault = true\n[[index]]\nurl = 'https://more.example.com/'\n\
              [[index]]\nname = 'x'\nurl = 'https://explicit.example.com/'\nexplicit = true\n";
    place.file("~/.config/uv/uv.toml", uv);
    place.file(
        "~/.cargo/config.toml",
        "[registries.my-own]\nindex = 'sparse+https://cargo.example.com/i/'\ntoken = 'sesame'\n",
    );
    let expected = "CARGO_REGISTRIES_MY_OWN_INDEX=sparse+https://cargo.example.com/i/\n\
                    PIP_EXTRA_INDEX_URL=https://one.example.com/ https://two.example.com/\nPIP_INDEX_URL=https://pip.example.com/simple\n\
                    UV_DEFAULT_INDEX=https://uv.example.com/\nUV_INDEX=https://more.example.com/\n\
                    npm_config_@acme:registry=https://acme.example.com/npm\nnpm_config_registry=https://npm.example.com/\n";
    assert_eq!(registries(&place, &[]), expected);
    let variables = [
        ("PIP_INDEX_URL", "https://mine.example.com/"),
        ("NPM_CONFIG_REGISTRY", "https://own.example.com/"),
    ];
    let expected = expected
        .replace("pip.example.com/simple", "mine.example.com/")
        .replace("npm.example.com", "own.example.com");
    assert_eq!(registries(&place, &variables), expected);
}

#[test]
fn what_is_odd_in_the_users_settings_neither_stops_a_run_nor_is_passed_over_in_silence() {
    let place = Place::new();
    place.file(
        "~/.gitconfig",
        "[core]\n\tautocrlf = in\0put\n[pull]\n\trebase = true\n",
    );
    place.file(
        "~/.npmrc",
        b"; f\xfcr uns\n@acme:registry=https://acme.example.com/\n".as_slice(),
    );
    let line = "git config pull.rebase; env | grep -c acme.example.com";
    let told = "stockade: `core.autocrlf` doesn't come along: it holds a NUL byte\n".to_string();
    assert_eq!(shell(&place, &[], line), ["true\n1\n".into(), told]);
    // Not where git isn't started.
    assert_eq!(shell(&place, &[], "echo x"), ["x\n", ""]);
    // Too long to be read.
    place.file(
        "~/.npmrc",
        format!("registry=https://acme.example.com/\n{}", ";\n".repeat(1 << 20)),
    );
    let connect = "python3 -c 'import socket; socket.create_connection((\"registry.npmjs.org\", 443))'";
    let [_, told] = shell(&place, &[], connect);
    let file = place.path("~/.npmrc").display().to_string();
    assert!(
        told.contains(&format!("this run doesn't see the settings of `{file}`")),
        "{told}"
    );
}

/// A manager that goes to its public registry all the same is told of: a stranger may have the name there.
#[test]
fn a_refused_public_registry_is_told_of_where_the_users_own_was_not_seen() {
    let place = Place::new();
    place.file(
        "~/.cargo/config.toml",
        "[source.crates-io]\nreplace-with = 'mine'\n[source.mine]\ndirectory = '/x'\n",
    );
    place.file(
        "~/.npmrc",
        "registry = https://npm.example.com/0123456789abcdef0123/\n@acme:registry = https://acme.example.com/\n",
    );
    let connect = |host: &str| format!("import socket; socket.create_connection(('{host}', 443))");
    let file = place.path("~/.cargo/config.toml").display().to_string();
    let cases = [
        (
            "index.crates.io",
            format!(
                "stockade: cargo didn't see `[source]` of `{file}` here, so it asked crates.io: `--read {file}`, and `cargo --config {file}`\n"
            ),
        ),
        (
            "registry.npmjs.org",
            format!(
                "stockade: names of `@acme/` are private: below `sh`, not bash, npm asks the public registry\n\
                 stockade: this run doesn't see a registry of `{}`, and asked the public one; don't grant that for private names\n",
                place.path("~/.npmrc").display()
            ),
        ),
        ("www.example.com", String::new()),
    ];
    for (host, said) in cases {
        let code = connect(host);
        let words = [&UNDER_WORKSPACE[..], &[python(), "-c", &code]].concat();
        let stderr = stockade(&place, &words).stderr();
        assert!(stderr.contains(&format!("--host {host}")), "{stderr}");
        let told = stderr.split_once(&format!("--host {host}`\n")).map(|(_, told)| told);
        assert_eq!(told, Some(said.as_str()), "{stderr}");
    }
}
