//! The cache of a run: what it leaves for later runs of its kind, and for no others.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Stdio;

use crate::common::{Place, Run, STOCKADE, finish, older_inside, run};

/// Keeps a text in the cache, as a package manager would.
const KEEP: &str = "mkdir -p $npm_config_cache; echo kept >$npm_config_cache/x";
/// Says what is found there.
const FIND: &str = "cat $npm_config_cache/x 2>/dev/null || echo none";

fn runs(place: Place, profile: &str) -> Run {
    let mut again = run();
    again.place = place;
    again.profile(profile)
}

/// The caches of a place, without what is said of them.
fn caches(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.state().join("cache"))
        .into_iter()
        .flatten()
        .flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn what_a_run_caches_is_there_for_its_like() {
    for profile in ["workspace", "mcp-standard"] {
        let code = &format!("{FIND}; {KEEP}");
        let place = run().profile(profile).bash(code).stdout("none\n").ends().place;
        runs(place, profile).bash(code).stdout("kept\n").ends();
    }
}

// promise: caches.1
#[test]
fn another_profile_root_agent_or_command_finds_no_such_cache() {
    let mut place = run()
        .profile("workspace")
        .bash(&format!("{KEEP}; {FIND}"))
        .stdout("kept\n")
        .ends()
        .place;
    fs::create_dir(place.path("sub")).unwrap();
    let others: [(&str, &[&str]); 3] = [
        ("mcp-standard", &[]),
        ("workspace", &["--agent", "worker", "--audit", "off"]),
        ("workspace", &["--root", "@ROOT/sub"]),
    ];
    for (profile, flags) in others {
        let mut other = runs(place, profile);
        if flags.contains(&"--root") {
            other = other.without_root();
        }
        place = other.flags(flags).bash(FIND).stdout("none\n").ends().place;
    }
    // Without a root that it writes, each command has one of its own.
    let place = runs(place, "mcp-standard").bash(KEEP).ends().place;
    runs(place, "mcp-standard").bash(FIND).stdout("none\n").ends();
}

// promise: caches.2
#[test]
fn no_other_run_reaches_a_cache_by_its_path() {
    let mut place = run().profile("workspace").bash(KEEP).ends().place;
    let cache = caches(&place).pop().expect("a cache");
    let code = format!(
        "ls {0}; cat {0}/npm/x; echo y >{0}/npm/x; echo y >{0}/y; mv {0} {0}y; rm -r {0}; ls {0}/..; cat {0}.json",
        cache.display()
    );
    fs::create_dir(place.path("sub")).unwrap();
    for (profile, root) in [
        ("workspace", "@ROOT/sub"),
        ("mcp-standard", "@ROOT"),
        ("trusted", "@ROOT"),
    ] {
        let attempt = runs(place, profile)
            .without_root()
            .flags(["--root", root, "--write", "@HOME"]);
        place = attempt.bash(&code).any_status().any_stderr().ends().place;
        assert_eq!(fs::read_to_string(cache.join("npm/x")).unwrap(), "kept\n", "{profile}");
        assert_eq!(fs::read_dir(&cache).unwrap().count(), 1, "{profile}");
    }
}

#[test]
fn a_run_that_fetches_nothing_or_writes_nothing_has_no_cache() {
    let none: [(&str, &[&str]); 6] = [
        ("minimal", &[]),
        ("readonly", &[]),
        ("network-api", &[]),
        ("filesystem", &[]),
        ("mcp-standard", &["--net", "none"]),
        ("workspace", &["--cap", "READ,EXECUTE,SPAWN"]),
    ];
    for (profile, flags) in none {
        let asks = run()
            .profile(profile)
            .flags(flags)
            .bash("echo ${npm_config_cache-none}");
        asks.stdout("none\n").ends();
    }
    // A project's packages are built without a network too.
    run()
        .profile("workspace")
        .bash(&format!("{KEEP}; {FIND}"))
        .stdout("kept\n")
        .ends();
}

#[test]
fn a_cache_that_stays_empty_is_removed() {
    let place = run()
        .profile("workspace")
        .bash("echo $npm_config_cache")
        .stdout_has("/cache/")
        .ends()
        .place;
    assert_eq!(fs::read_dir(place.state().join("cache")).unwrap().count(), 0);
}

#[test]
fn without_a_place_for_it_a_run_starts_without_a_cache() {
    let place = run().profile("mcp-standard").ends().place;
    fs::remove_dir(place.state().join("cache")).unwrap();
    fs::write(place.state().join("cache"), "no directory").unwrap();
    runs(place, "mcp-standard")
        .bash("echo ${npm_config_cache-none}")
        .stdout("none\n")
        .ends();
}

#[test]
fn what_the_caller_names_counts_more_than_the_cache() {
    let named = run()
        .profile("workspace")
        .flags(["--env", "npm_config_cache=@ROOT/own"]);
    named.bash("echo $npm_config_cache").stdout("@ROOT/own\n").ends();
}

#[test]
fn cargo_reads_the_users_crates_until_it_can_fetch_others() {
    let cargo = "#!/bin/sh\nmkdir -p $CARGO_HOME/registry/x 2>/dev/null; echo $CARGO_HOME\n";
    let mut place = Place::new();
    place.program("~/.cargo/bin/rustup", cargo);
    symlink("rustup", place.path("~/.cargo/bin/cargo")).unwrap();
    fs::create_dir_all(place.path("~/.rustup/toolchains")).unwrap();
    fs::create_dir(place.path("~/.cargo/registry")).unwrap();
    let (users, others) = ("@HOME/.cargo\n", "/cache/");
    let fetches: &[&str] = &["--host", "127.0.0.1:9"];
    for (flags, said) in [(&[][..], users), (fetches, others), (&[], others)] {
        let cargo = place.path("~/.cargo/bin/cargo");
        let run = runs(place, "workspace").flags(flags).command([cargo]);
        place = run.stdout_has(said).ends().place;
    }
    assert_eq!(fs::read_dir(place.path("~/.cargo/registry")).unwrap().count(), 0);
}

#[test]
fn in_a_cache_nothing_is_closed_by_its_name_and_its_programs_start() {
    let code = "cd ${npm_config_cache%/npm} && mkdir -p a/.git/hooks a/.vscode
        for name in a/.env a/key.pem a/.git/config a/.git/hooks/pre-commit a/.vscode/settings.json; do
            echo x >>$name && mv $name b && mv b $name && wc -l <$name
        done
        printf '#!/bin/sh\\necho started\\n' >run; chmod 755 run; ./run; rm run";
    let wanted = |lines: usize| format!("{}started\n", format!("{lines}\n").repeat(5));
    let place = run().profile("workspace").bash(code).stdout(&wanted(1)).ends().place;
    // A later run too.
    runs(place, "workspace").bash(code).stdout(&wanted(2)).ends();
}

#[test]
fn the_cache_itself_stays_where_it_is() {
    let code = "cd ${npm_config_cache%/npm} && echo x >x && d=$PWD && cd / &&
        ! mv $d $d.b 2>&- && ! mv $d @ROOT/b 2>&- && ! touch $d/../y 2>&- && ! ls $d/.. 2>&- && ! cat $d.json 2>&- &&
        { rm -r $d 2>&-; echo x >$d/x && cat $d/x; }";
    run().profile("workspace").bash(code).stdout("x\n").ends();
}

/// By a name in a cache a later run could change what lies elsewhere and is closed to it by then.
#[test]
fn a_cache_whose_mode_a_run_has_changed_is_as_it_was_for_the_next() {
    let code = format!("{KEEP}; chmod 0 $(dirname $npm_config_cache)");
    let place = run().profile("workspace").bash(&code).ends().place;
    runs(place, "workspace").bash(FIND).stdout("kept\n").ends();
}

// promise: caches.3
#[test]
fn nothing_gets_a_name_in_a_cache_and_one_outside() {
    let code = r#"
import os, errno, itertools
cache = os.path.dirname(os.environ['npm_config_cache'])
def attempt(what, call, *places):
    try: call(*places); print(what, 'works')
    except OSError as e: print(what, errno.errorcode[e.errno])
def fresh(place, number=itertools.count()):
    path = '%s/%d' % (place, next(number))
    open(path, 'w').close()
    return path
for name, place in [('root', '@ROOT'), ('scratch', os.environ['HOME'])]:
    for call in os.link, os.rename:
        attempt(name + ' in', call, fresh(place), cache + '/new')
        attempt(name + ' out', call, fresh(cache), place + '/new')
    os.makedirs(place + '/d'); os.makedirs(cache + '/' + name + '/d')
    attempt(name + ' directory in', os.rename, place + '/d', cache + '/d')
    attempt(name + ' directory out', os.rename, cache + '/' + name + '/d', place + '/e')
attempt('inside', os.link, fresh(cache), cache + '/one')
attempt('inside', os.rename, cache + '/one', cache + '/two')
nameless = os.open('@ROOT', os.O_TMPFILE | os.O_WRONLY)
attempt('nameless in', lambda: os.link('/proc/self/fd/%d' % nameless, cache + '/three', src_dir_fd=0))
kept = fresh(cache)
os.link(kept, cache + '/kept')
held = os.open(kept, os.O_RDWR)
os.unlink(kept)
attempt('by a name that is gone', lambda: os.link('/proc/self/fd/%d' % held, '@ROOT/kept', src_dir_fd=0))
"#;
    let crossing = |name: &str| {
        let ways = ["in", "out", "in", "out", "directory in", "directory out"];
        ways.map(|way| format!("{name} {way} EXDEV\n")).concat()
    };
    run()
        .profile("workspace")
        .python(code)
        .stdout(&format!(
            "{}{}inside works\ninside works\nnameless in EXDEV\nby a name that is gone ENOENT\n",
            crossing("root"),
            crossing("scratch")
        ))
        .ends();
}

#[test]
fn a_cache_counts_for_the_limit_of_disk() {
    // No file is past it, and all together are far past it.
    let code =
        format!("{KEEP}; for n in $(seq 12); do head -c 900K /dev/zero >$npm_config_cache/large$n; done; sleep 20");
    let limited = run().profile("workspace").flags(["--disk-limit", "1M"]);
    limited.bash(&code).status(137).stderr_has("past its disk limit").ends();
}

#[test]
fn a_run_inside_a_run_has_a_cache_that_ends_with_the_outer_one() {
    let inner = format!(
        "{STOCKADE} run {} --profile workspace -- bash -c '{FIND}; {KEEP}'",
        older_inside().join(" ")
    );
    let outer = run()
        .profile("workspace")
        .flags(["--exec", STOCKADE.path()])
        .flags(older_inside());
    let place = outer
        .bash(&format!("{inner}; {inner}"))
        .stdout("none\nkept\n")
        .ends()
        .place;
    assert_eq!(caches(&place), Vec::<PathBuf>::new());
}

#[test]
fn caches_are_listed_with_what_they_are_for_and_removed_by_name() {
    let kept = run().profile("mcp-standard").bash(&format!(
        ": --token=hunter2hunter2; {KEEP}; mkdir $npm_config_cache/d; chmod 500 $npm_config_cache/d"
    ));
    let place = kept.ends().place;
    let cache = caches(&place).pop().expect("a cache");
    let name = cache.file_name().unwrap().to_str().unwrap();
    let stockade = |words: &[&str]| finish(place.command(STOCKADE).arg("cache").args(words), b"");
    let listed = stockade(&["list"]).stdout();
    let says = [
        name,
        "MiB",
        "under mcp-standard: bash -c",
        &place.fill("in @ROOT"),
        "***",
    ];
    for part in says {
        assert!(listed.contains(part), "{part} is missing:\n{listed}");
    }
    let beside = fs::read_to_string(cache.with_extension("json")).unwrap();
    assert!(
        !listed.contains("hunter2") && !beside.contains("hunter2"),
        "{listed}{beside}"
    );
    assert_eq!(stockade(&["remove", "x"]).status.code(), Some(125));
    assert_eq!(stockade(&["remove", &name[..6]]).stdout(), format!("removed {name}\n"));
    assert_eq!(fs::read_dir(place.state().join("cache")).unwrap().count(), 0);
    assert_eq!(stockade(&["list"]).stdout(), "");
}

#[test]
fn a_cache_that_a_run_is_using_is_not_removed() {
    let using = run().profile("workspace").bash(&format!("{KEEP}; echo ready; read go"));
    let mut process = using.process();
    let mut child = process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let removed = finish(using.place.command(STOCKADE).args(["cache", "remove", "--all"]), b"");
    assert_eq!(removed.status.code(), Some(125));
    assert!(
        removed.stderr().contains("a run is using the cache"),
        "{}",
        removed.stderr()
    );
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(caches(&using.place).len(), 1);
}
