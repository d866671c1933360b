//! What the built-in list closes, in four kinds of homes and through four kinds of mounts; and what stays open beside it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Place, STOCKADE, finish, is_root, python, run, skipped};

/// Files of a home that hold secrets on real machines. Written down apart from the list.
const SECRETS: &str = include_str!("secret-files.txt");
/// The same of a project.
const OF_PROJECTS: &str = include_str!("project-files.txt");
/// Ordinary files.
const NEIGHBOURS: &str = include_str!("neighbours.txt");
/// What is read and never written.
const GUARDED: &str = include_str!("guarded-files.txt");

const SETTING: &str = include_str!("setting.sh");
const PROBE: &str = include_str!("probe.py");

/// A place with the probe and what it looks at.
fn place() -> Place {
    let place = Place::new();
    for (name, text) in [
        ("secrets.txt", SECRETS),
        ("projects.txt", OF_PROJECTS),
        ("neighbours.txt", NEIGHBOURS),
        ("guarded.txt", GUARDED),
        ("probe.py", PROBE),
    ] {
        place.file(name, text);
    }
    place
}

/// What the probe says in the setting, started by these words.
fn told(place: &Place, words: &[&str]) -> Option<Value> {
    let mut command = place.command("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-ec", SETTING, "sh", python()]);
    let finished = finish(command.args(words).args([python(), "-I", "probe.py", "look"]), b"");
    match finished.stdout().as_str() {
        "nothing can be mounted\n" => None,
        text => Some(serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}{}", finished.stderr()))),
    }
}

// promise: secrets.2
#[test]
fn secrets_of_every_home_are_closed_behind_every_mount_and_neighbours_open() {
    let place = place();
    let Some(bare) = told(&place, &[]) else {
        return skipped("no file system can be mounted here");
    };
    for kind in ["secrets", "neighbours", "guarded", "changed"] {
        assert_eq!(
            bare[kind]["closed"],
            Value::Array(Vec::new()),
            "{kind} without confinement"
        );
        assert!(
            bare[kind]["part"].as_array().is_none_or(Vec::is_empty),
            "{kind}: {}",
            bare[kind]["part"]
        );
        assert!(bare[kind]["open"].as_array().unwrap().len() > 100, "{kind}");
    }
    // The program may lie in a home, of which nothing is seen there.
    let program = place.path("stockade");
    std::fs::copy(STOCKADE.path(), &program).unwrap();
    for profile in ["mcp-standard", "trusted"] {
        let run = [
            program.to_str().unwrap(),
            "run",
            "--ask",
            "never",
            "--profile",
            profile,
            "--",
        ];
        let seen = told(&place, &run).unwrap();
        for (kind, state) in [
            ("secrets", "open"),
            ("secrets", "part"),
            ("neighbours", "closed"),
            ("guarded", "closed"),
            ("changed", "open"),
        ] {
            assert_eq!(
                seen[kind][state],
                Value::Array(Vec::new()),
                "{kind} {state} under {profile}"
            );
        }
    }
}

#[test]
fn another_users_link_at_a_secret_place_closes_nothing_of_the_systems() {
    if !is_root() {
        return skipped("only root gives a link to another user");
    }
    const NOBODY: u32 = 65_534;
    let reads = |owner: u32, status: i32| {
        run()
            .profile("mcp-standard")
            .file("system", "x")
            .file("~/other", "")
            .after(&format!(
                "ln -s @ROOT/system @HOME/.netrc; chown -h {owner} @HOME/.netrc"
            ))
            .command(["cat", "system"])
            .any_stdout()
            .any_stderr()
            .status(status)
            .ends()
    };
    reads(0, 1);
    assert_eq!(reads(NOBODY, 0).stdout(), "x");
}

#[test]
fn secrets_stay_closed_however_the_slashes_of_home_and_of_moving_variables_are_written() {
    for spelling in ["@", "@/", "@//", "@/.", "//@"] {
        let place = Place::new();
        place.file("~/.azure/t", "SECRET");
        place.file("~/gnupg/private-keys-v1.d/A", "SECRET");
        let written = |path: &Path| spelling.replace('@', path.to_str().unwrap());
        let probe = "cat @HOME/.azure/t @HOME/gnupg/private-keys-v1.d/A; echo planted >> @HOME/.bashrc";
        let shown = |words: &[&str]| {
            let mut command = place.command(words[0]);
            command
                .env("HOME", written(&place.home))
                .env("GNUPGHOME", written(&place.path("~/gnupg")));
            finish(command.args(&words[1..]).args(["sh", "-c", &place.fill(probe)]), b"").stdout()
        };
        assert_eq!(shown(&["env"]), "SECRETSECRET");
        fs::remove_file(place.path("~/.bashrc")).expect("planted without confinement");
        let run = [STOCKADE.path(), "run", "--ask", "never", "--profile", "trusted", "--"];
        assert_eq!(shown(&run), "", "{spelling}");
        assert!(!place.path("~/.bashrc").exists(), "{spelling}");
    }
}

// promise: secrets.4
#[test]
fn a_secret_that_a_variable_moves_is_closed_behind_a_tilde_that_no_shell_expanded() {
    let reads = |variables: &[(&str, &str)], status: i32| {
        let reads = run().profile("workspace").file("keys", "x").command(["cat", "keys"]);
        let reads = variables
            .iter()
            .fold(reads, |run, (name, value)| run.variable(name, value));
        reads.any_stdout().any_stderr().status(status).ends();
    };
    reads(&[], 0);
    reads(&[("AWS_SHARED_CREDENTIALS_FILE", "~/../root/keys")], 1);
    reads(&[("AWS_SHARED_CREDENTIALS_FILE", "keys")], 1);
}

/// A root directory that is a home, as in a container whose user has no entry in the user database: the probe without
/// confinement and with it.
const ROOT_AS_HOME: &str = r#"
mount -t tmpfs none . 2>/dev/null || { echo nothing can be mounted; exit; }
cd $PWD
mkdir -p usr bin lib lib64 etc proc dev sys var/tmp w .azure .config/gh
for directory in usr bin lib lib64 etc proc dev sys; do
    [ ! -e /$directory ] || mount --rbind /$directory $directory
done
touch stockade
mount --bind $1 stockade
printf SECRET >.azure/t
printf SECRET >.config/gh/hosts.yml
probe='cat /.azure/t /.config/gh/hosts.yml 2>/dev/null; { echo planted >>/.bashrc; } 2>/dev/null && echo planted'
HOME=$2 unshare --root=. sh -c "$probe"
HOME=$2 unshare --root=. /stockade run --audit off --ask never --profile trusted --root /w -- sh -c "$probe" 2>/dev/null || true
"#;

#[test]
fn secrets_stay_closed_where_the_home_is_the_root_directory() {
    for home in ["/", "//"] {
        let place = Place::new();
        let mut command = place.command("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-ec", ROOT_AS_HOME, "sh"]);
        let finished = finish(command.args([STOCKADE.path(), home]), b"");
        match finished.stdout().as_str() {
            "nothing can be mounted\n" => return skipped("no file system can be mounted here"),
            text => assert_eq!(text, "SECRETSECRETplanted\n", "{}", finished.stderr()),
        }
    }
}

/// A container that was given its host's disk, and its `/etc` once more: the probe without confinement and with it.
const HOST_IN_CONTAINER: &str = r#"
mkdir -p disk/etc/ssh disk/var/lib/etcd disk/root disk/home/bob disk/srv/ada w/host w/etc w/homes w/memory
mount --bind disk w/host 2>/dev/null || { echo nothing can be mounted; exit; }
mount --bind disk/etc w/etc
mount --bind disk/home w/homes
mount -t tmpfs tmpfs w/memory
mkdir w/memory/etc
for file in etc/passwd etc/hostname etc/shadow etc/ssh/key var/lib/etcd/db; do echo $file >disk/$file; done
echo ada:x:1000:1000::/srv/ada:/bin/sh >disk/etc/passwd
for file in root/.npmrc home/bob/.npmrc srv/ada/.npmrc; do echo $file >disk/$file; done
echo x >w/memory/etc/passwd
echo memory >w/memory/etc/shadow
cd w
probe='cat host/etc/hostname host/etc/shadow host/etc/ssh/key host/var/lib/etcd/db etc/hostname etc/shadow etc/ssh/key host/root/.npmrc host/home/bob/.npmrc host/srv/ada/.npmrc homes/bob/.npmrc memory/etc/shadow 2>/dev/null; echo end'
sh -c "$probe"
$1 run --audit off --ask never --profile mcp-standard -- sh -c "$probe" 2>/dev/null
"#;

#[test]
fn the_places_of_a_machine_whose_disk_is_mounted_are_closed_there_too() {
    let place = Place::new();
    let mut command = place.command("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-ec", HOST_IN_CONTAINER, "sh"]);
    let finished = finish(command.arg(STOCKADE.path()), b"");
    match finished.stdout().as_str() {
        "nothing can be mounted\n" | "" => skipped("no file system can be mounted here"),
        text => assert_eq!(
            text,
            "etc/hostname\netc/shadow\netc/ssh/key\nvar/lib/etcd/db\netc/hostname\netc/shadow\netc/ssh/key\n\
             root/.npmrc\nhome/bob/.npmrc\nsrv/ada/.npmrc\nhome/bob/.npmrc\nmemory\nend\n\
             etc/hostname\netc/hostname\nend\n",
            "{}",
            finished.stderr()
        ),
    }
}
