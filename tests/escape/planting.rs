//! Nothing is planted at a closed place: not by the names above it, whether these are absent, there, links, or replaced.
//! What is planted there would be Stockade's own configuration, a key that opens the account, a program that the user
//! starts.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stockade_policy::policy::{Access, SecretList, Target, paths_of_homes};

use super::cases::{WRITING, attempts};
use crate::common::{Place, Probe, Run, STOCKADE, finish, python, run, until};

const SCRIPT: &str = include_str!("planting.py");

/// The directory of `PATH` that the fresh home has.
const PROGRAMS: &str = ".local/bin";

/// How the directories above the closed places are found.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Home {
    /// There are none.
    Bare,
    /// All are there, empty of what is closed.
    Prepared,
    /// The topmost are links to directories elsewhere in the home.
    Linked,
}

/// All that is closed for writing by its place in a home, and not by the machine's.
fn places() -> Vec<String> {
    let sandbox = stockade::Sandbox::profile("trusted").unwrap().root("/var/tmp");
    let policy = sandbox.policy_of_any_command().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let home = PathBuf::from(std::env::var_os("HOME").expect("tests have a home"));
    let home = fs::canonicalize(&home).unwrap_or(home);
    let closed = policy
        .denials
        .iter()
        .filter(|denial| denial.access.contains(Access::WRITE));
    let below = |target: &Target| match target {
        Target::Path(path) => path
            .strip_prefix(&home)
            .ok()
            .map(|rest| rest.to_str().unwrap().to_owned()),
        _ => None,
    };
    let mut places: BTreeSet<_> = closed.filter_map(|denial| below(&denial.target)).collect();
    // Of the lists a part: all go the same way.
    let listed = [SecretList::Secret, SecretList::Guarded]
        .into_iter()
        .flat_map(paths_of_homes)
        .step_by(crate::common::tries(70, 45));
    places.extend(listed.map(|path| path.to_str().unwrap().to_owned()));
    // Of the programs that a user starts by name, the fresh home has others.
    let own = |place: &String| std::env::split_paths(&path).any(|directory| home.join(place).starts_with(directory));
    let directories = std::env::split_paths(&path).filter_map(|directory| fs::read_dir(directory).ok());
    let led_to: BTreeSet<_> = directories
        .flatten()
        .filter_map(|entry| fs::canonicalize(entry.ok()?.path()).ok())
        .collect();
    places.retain(|place| !own(place) && !led_to.contains(&home.join(place)));
    places.retain(|place| std::env::current_exe().unwrap() != home.join(place));
    // The tests' own may lie elsewhere, the fresh home's don't.
    places.extend([PROGRAMS, ".config/stockade", ".local/state/stockade"].map(str::to_owned));
    assert!(places.len() > 15, "{places:?}");
    places.into_iter().collect()
}

/// What is tried of all places.
#[derive(Clone, Copy, PartialEq)]
enum Tried {
    /// The first of each directory, in all ways.
    First,
    /// The first of each directory in all ways, and the others in four.
    All,
    /// The first of each directory, in four ways.
    Few,
}

fn tried(places: &[String], tried: Tried) -> Vec<String> {
    let mut directories = BTreeSet::new();
    let mut marked = |place: &String| {
        let is_first = directories.insert(Path::new(place).parent().map(Path::to_owned));
        match tried {
            Tried::First | Tried::All if is_first => Some(format!("+{place}")),
            Tried::All | Tried::Few if is_first || tried == Tried::All => Some(place.clone()),
            _ => None,
        }
    };
    places.iter().filter_map(&mut marked).collect()
}

fn tops(places: &[String]) -> BTreeSet<&str> {
    let parts = places.iter().filter_map(|place| place.split_once('/'));
    parts.map(|(top, _)| top).collect()
}

fn prepare(place: &Place, places: &[String], home: Home) {
    for directory in places.iter().filter_map(|place| Path::new(place).parent()) {
        let mut directory = directory.to_owned();
        if let (Home::Linked, Some(top)) = (home, directory.iter().next().map(PathBuf::from)) {
            let rest = directory.strip_prefix(&top).unwrap().to_owned();
            directory = Path::new("kept").join(&top).join(rest);
            let _ = symlink(Path::new("kept").join(&top), place.home.join(&top));
        }
        if home != Home::Bare {
            fs::create_dir_all(place.home.join(directory)).unwrap();
        }
    }
}

/// What stands at the closed places and above them.
fn seen(home: &Path, places: &[String]) -> Vec<String> {
    let evil = |place: &&String| {
        let at = home.join(place);
        fs::read_to_string(at).is_ok_and(|text| text == "EVIL")
    };
    let planted = places
        .iter()
        .filter(evil)
        .map(|place| format!("{place} holds the text"));
    let link = |top: &&str| fs::symlink_metadata(home.join(top)).is_ok_and(|entry| entry.is_symlink());
    let links = tops(places)
        .into_iter()
        .filter(link)
        .map(|top| format!("{top} is a link to {:?}", fs::read_link(home.join(top)).unwrap()));
    planted.chain(links).collect()
}

fn script(place: &Place, mode: &str, scratch: &str, places: &[String]) -> Vec<String> {
    let words = ["-I", "-c", SCRIPT, place.home.to_str().unwrap(), mode, scratch];
    words
        .into_iter()
        .map(str::to_owned)
        .chain(tried(places, Tried::First))
        .collect()
}

/// That each way puts the text there unconfined.
fn assert_proved(places: &[String], home: Home) {
    let place = Place::new();
    prepare(&place, places, home);
    let was = place.home.with_extension("was");
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .arg(&place.home)
        .arg(&was)
        .status();
    assert!(copied.unwrap().success());
    fs::create_dir(place.root.join("scratch")).unwrap();
    let scratch = place.root.join("scratch");
    let mut command = place.command(python());
    command.args(script(&place, "free", scratch.to_str().unwrap(), places));
    let output = finish(&mut command, b"").stdout();
    let ways = SCRIPT
        .lines()
        .filter(|line| line.starts_with("    \"") && line.contains("\": ("))
        .count();
    assert_eq!(ways, 16);
    for way in output
        .lines()
        .map(|line| line.split('\t').nth(1).unwrap())
        .collect::<BTreeSet<_>>()
    {
        let planted = |line: &&str| line.starts_with("planted") && line.split('\t').nth(1) == Some(way);
        assert!(
            output.lines().any(|line| planted(&line)),
            "unconfined, {home:?}: {way} plants nothing:\n{output}"
        );
    }
}

fn assert_held(places: &[String], home: Home, flags: &[&str]) {
    let place = Place::new();
    prepare(&place, places, home);
    let before = seen(&place.home, places);
    let flags: Vec<_> = flags.iter().map(|flag| place.fill(flag)).collect();
    let mut command = place.command(STOCKADE);
    let programs = place.home.join(PROGRAMS);
    command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
    command.arg("run").args(["--ask", "never"]).args(&flags).arg("--").args([
        "sh",
        "-c",
        // The scratch directory's name is known inside alone.
        "script=$1; home=$2; shift 2; exec /usr/bin/python3 -I -c \"$script\" \"$home\" held \"${TMPDIR:-/tmp}\" \"$@\"",
        "sh",
        SCRIPT,
        place.home.to_str().unwrap(),
    ]);
    let names = match flags.len() {
        4 if flags[1] == "trusted" => tried(places, Tried::All),
        _ => tried(places, crate::common::tries(Tried::Few, Tried::All)),
    };
    command.args(&names);
    let finished = finish(&mut command, b"");
    let output = finished.stdout();
    assert!(
        output.lines().count() > 4 * names.len(),
        "{flags:?} {home:?}: {output}\n{}",
        finished.stderr()
    );
    let planted: Vec<_> = output.lines().filter(|line| line.starts_with("planted")).collect();
    assert!(planted.is_empty(), "{flags:?} {home:?}: {planted:#?}");
    assert_eq!(seen(&place.home, places), before, "{flags:?} {home:?}");
}

const WRITING_THE_HOME: [&[&str]; 4] = [
    &["--profile", "trusted", "--root", "@ROOT"],
    &["--profile", "trusted", "--root", "@ROOT", "--trace", "exact"],
    &["--profile", "workspace", "--root", "@HOME"],
    &["--profile", "minimal", "--root", "@ROOT", "--write", "@HOME"],
];

fn in_a_home(home: Home) {
    let places = places();
    assert_proved(&places, home);
    for flags in WRITING_THE_HOME {
        assert_held(&places, home, flags);
    }
}

// promise: secrets.13
#[test]
fn nothing_is_planted_where_the_names_above_are_absent() {
    in_a_home(Home::Bare);
}

// promise: secrets.13
#[test]
fn nothing_is_planted_where_the_directories_above_are_there() {
    in_a_home(Home::Prepared);
}

// promise: secrets.13
#[test]
fn nothing_is_planted_where_the_names_above_are_links() {
    in_a_home(Home::Linked);
}

const REFUSED: &str = "EACCES|EPERM|EXDEV|ENOTEMPTY|EEXIST|ENOENT";

/// Everything that could put a prepared directory, or a link to it, onto a name. `@NAME` is made where it is missing.
const ONTO: &[&str] = &[
    "os.rename('@DIR', '@NAME')",
    "os.path.lexists('@NAME') and os.rename('@NAME', '@NAME.old'); os.rename('@DIR', '@NAME')",
    "os.makedirs('@NAME', exist_ok=True); renameat2('@DIR', '@NAME', 2) # EXCHANGE",
    "os.makedirs('@NAME', exist_ok=True); renameat2('@NAME', '@DIR', 2) # EXCHANGE, the other way round",
    "os.path.isdir('@NAME') and os.rmdir('@NAME'); renameat2('@DIR', '@NAME', 1) # NOREPLACE",
    "os.path.isdir('@NAME') and os.rmdir('@NAME'); os.symlink('@DIR', '@NAME')",
    "os.path.isdir('@NAME') and os.rmdir('@NAME'); os.symlink('@DIR', '@DIR/l'); os.rename('@DIR/l', '@NAME')",
    "os.path.isdir('@NAME') and os.rmdir('@NAME'); os.symlink('@DIR', '@DIR/l'); \
     os.link('@DIR/l', '@NAME', follow_symlinks=False)",
    "os.makedirs('@NAME', exist_ok=True); os.symlink('@DIR', '@DIR/l'); renameat2('@DIR/l', '@NAME', 2)",
    "os.makedirs('@NAME', exist_ok=True); \
     [os.rename(os.path.join('@DIR', n), os.path.join('@NAME', n)) for n in os.listdir('@DIR')]",
];

/// Between two tries the name is as it was.
const CLEAR: &str = "import shutil; shutil.rmtree('@NAME', True); shutil.rmtree('@NAME.old', True); \
                     os.path.islink('@NAME') and os.unlink('@NAME')";

/// Each way, then whether the closed file holds the text. `files` are below the prepared directory.
fn onto(probe: Probe, name: &str, files: &[(&str, &str)], closed: &str) -> Probe {
    let whole = |form: &&str| {
        let form = format!("{CLEAR}; {form}; expect(open('{closed}').read() == 'EVIL')");
        form.replace("@NAME", name)
    };
    let forms: Vec<_> = ONTO.iter().map(whole).collect();
    let forms: Vec<_> = forms.iter().map(String::as_str).collect();
    attempts(probe, files, &forms)
}

#[test]
fn a_denied_file_is_not_made_by_moving_its_directory() {
    for profile in WRITING {
        let probe = Probe::new()
            .flags(["--deny", "./out/config.json"])
            .works("write('plain')");
        onto(probe, "@ROOT/out", &[("config.json", "EVIL")], "@ROOT/out/config.json").refused(profile, REFUSED);
    }
}

// promise: files.14
#[test]
fn what_a_denied_glob_closes_is_not_made_by_moving_what_is_above_it() {
    for (deny, name, file) in [
        ("./web/*/vendor/**", "@ROOT/web", "a/vendor/x"),
        ("./web/*/vendor/**", "@ROOT/web/a", "vendor/x"),
        ("**/.settings/own/**", "@ROOT/deep/.settings", "own/x"),
    ] {
        let probe = Probe::new()
            .flags(["--deny", deny])
            .works("os.makedirs('@ROOT/web', exist_ok=True)");
        let probe = probe.works("os.makedirs('@ROOT/deep', exist_ok=True)");
        let closed = format!("{name}/{file}");
        onto(probe, name, &[(file, "EVIL")], &closed).refused("workspace", REFUSED);
    }
}

#[test]
fn what_a_denied_glob_closes_through_a_link_is_closed_by_every_name() {
    Probe::new()
        .flags(["--deny", "./a/*/b/**"])
        .file("a/plain", "")
        .file("real/b/kept", "kept")
        .link("a/x", "../real")
        .works("write('@ROOT/plain')")
        .attempt("write('@ROOT/a/x/b/kept')")
        .attempt("write('@ROOT/real/b/kept')")
        .attempt("write('@ROOT/a/x/b/new')")
        .attempt("write('@ROOT/real/b/other')")
        .attempt("os.rename('@ROOT/real', '@ROOT/away'); os.rename('@ROOT/away', '@ROOT/real')")
        .attempt("os.unlink('@ROOT/a/x'); os.symlink('../real', '@ROOT/a/x')")
        .refused("workspace", REFUSED);
}

#[test]
fn what_a_scope_keeps_is_not_replaced_by_moving_what_is_above_it() {
    let agent = "version = 1\n[agents.helper]\nprofile = \"workspace\"\nmode = \"accept-edits\"\n\
                 [agents.helper.scope]\nread_only = [\"web/vendor/**\"]\n";
    let probe = Probe::new()
        .flags(["--agent", "helper"])
        .file("~/.config/stockade/config.toml", agent)
        .works("write('plain')");
    onto(probe, "@ROOT/web", &[("vendor/x", "EVIL")], "@ROOT/web/vendor/x").refused("workspace", REFUSED);
}

/// Programs that move a directory copy it then, and what isn't closed arrives.
#[test]
fn what_is_open_is_moved_file_by_file() {
    run()
        .profile("workspace")
        .file("new/config.json", "EVIL")
        .file("new/page.html", "page\n")
        .flags(["--deny", "./out/config.json"])
        .bash("mv new out; cat out/page.html; test -e out/config.json || echo kept out")
        .stdout("page\nkept out\n")
        .stderr_has("config.json")
        .ends();
}

/// In the scratch directory the run changes entries without being seen, so what is moved out of it may be anything.
#[test]
fn what_arrives_from_the_scratch_directory_is_never_taken_for_a_file() {
    let race = "import threading\n\
        top = os.environ['TMPDIR']; source = top + '/source'; goal = '@HOME/.docker'; stop = []\n\
        os.mkdir(top + '/tree'); write(top + '/tree/config.json'); write(top + '/file')\n\
        os.symlink(top + '/tree', top + '/link')\n\
        def flip():\n  \
          while not stop:\n    \
            for other in ('/tree', '/link'):\n      \
              try: renameat2(top + '/file', top + other, 2)\n      \
              except OSError: pass\n\
        os.link(top + '/file', source)\n\
        thread = threading.Thread(target=flip); thread.start()\n\
        for _ in range(20000 if os.environ.get('FREE') else 2000):\n  \
          try: os.rename(top + '/file', goal)\n  \
          except OSError: pass\n  \
          if os.path.isdir(goal) or os.path.islink(goal): break\n  \
          if os.path.exists(goal): os.rename(goal, top + '/file')\n\
        stop.append(1); thread.join()\n\
        expect(os.path.isdir(goal) or os.path.islink(goal))";
    let place = Place::new();
    let script = format!("{}\n{}", include_str!("../common/prelude.py"), place.fill(race));
    let mut command = place.command(python());
    command
        .args(["-I", "-c", &script])
        .env("TMPDIR", place.path("scratch"))
        .env("FREE", "1");
    fs::create_dir(place.path("scratch")).unwrap();
    let finished = finish(&mut command, b"");
    assert!(
        finished.status.success(),
        "unconfined nothing arrives: {}",
        finished.stderr()
    );
    for profile in [["--profile", "filesystem"], ["--profile", "workspace"]] {
        let place = Place::new();
        let script = format!("{}\n{}", include_str!("../common/prelude.py"), place.fill(race));
        let mut command = place.command(STOCKADE);
        command
            .args(["run", "--ask", "never"])
            .args(profile)
            .arg("--root")
            .arg(&place.root);
        command.arg("--write").arg(&place.home);
        command.args(["--", "sh", "-c", "exec /usr/bin/python3 -I -c \"$1\"", "sh", &script]);
        let finished = finish(&mut command, b"");
        assert!(!finished.status.success(), "{profile:?}: {}", finished.stderr());
        let goal = fs::symlink_metadata(place.home.join(".docker"));
        assert!(goal.is_err(), "{profile:?}: {}", finished.stderr());
        assert!(
            finished.stderr().contains("[Errno 74]"),
            "{profile:?}: {}",
            finished.stderr()
        );
    }
}

/// The user keeps the configuration elsewhere, in a place that a run may write.
// promise: stockade.3
#[test]
fn what_links_in_the_configuration_lead_to_is_closed() {
    for profile in WRITING {
        let probe = Probe::new()
            .file("dotfiles/stockade.toml", "version = 1\n")
            .file("dotfiles/profile.toml", "version = 1\n")
            .link("~/.config/stockade/config.toml", "@ROOT/dotfiles/stockade.toml")
            .link(
                "~/.config/stockade/profiles/own.toml",
                "../../../../root/dotfiles/profile.toml",
            )
            .works("write('@ROOT/dotfiles/other')")
            .attempt("write('@ROOT/dotfiles/stockade.toml')")
            .attempt("os.truncate('@ROOT/dotfiles/profile.toml', 0)")
            .attempt("os.rename('@ROOT/dotfiles/other', '@ROOT/dotfiles/profile.toml')")
            .attempt("os.rename('@ROOT/dotfiles', '@ROOT/away')");
        probe.refused(profile, "EACCES|EXDEV");
    }
}

/// All of it: a run under the widest profile, then a run whose refusal would start the planted program.
// promise: stockade.2
#[test]
fn a_run_gets_no_program_started_outside_by_planting_the_configuration() {
    let config = "version = 1\non_violation = \"echo planted > @HOME/proof\"\n";
    let plants = [
        "mkdir -p ~/x/stockade; cp config.toml ~/x/stockade/; mv ~/x ~/.config",
        "mkdir -p ~/x/stockade; cp config.toml ~/x/stockade/; ln -s ~/x ~/.config",
        "mkdir -p stockade; cp config.toml stockade/; rm -rf ~/.config; ln -s $PWD ~/.config",
        "mkdir -p ~/.config; cp config.toml ~/.config; cd ~/.config; mkdir stockade; mv config.toml stockade/",
        "rm -rf ~/.config; mkdir -p ~/x/stockade; cp config.toml ~/x/stockade; mv -T ~/x ~/.config",
    ];
    for plant in plants {
        let begin = || {
            let place = Place::new();
            place.file("config.toml", place.fill(config));
            place
        };
        let violate = |place: &Place| {
            let mut command = place.command(STOCKADE);
            finish(command.args(["run", "--ask", "never", "--", "cat", "/etc/shadow"]), b"");
            let planted = place.home.join(".config/stockade/config.toml").exists();
            // The alert isn't waited for.
            planted && until(Duration::from_secs(10), || place.home.join("proof").exists())
        };
        let free = begin();
        finish(free.command("sh").args(["-c", plant]), b"");
        assert!(violate(&free), "`{plant}` plants nothing unconfined");
        let confined = ["run", "--ask", "never", "--profile", "trusted", "--env", "HOME", "--"];
        let inner: Vec<_> = [STOCKADE.path()].into_iter().chain(confined).collect();
        for words in [vec![], inner] {
            let held = begin();
            let mut command = held.command(STOCKADE);
            command.args(confined).args(&words).args(["sh", "-c", plant]);
            finish(&mut command, b"");
            assert!(!violate(&held), "`{plant}` after {words:?}");
        }
    }
}

/// A program that Stockade starts outside of every confinement, and how a run could make another of it.
struct Started {
    /// The flags of the run.
    flags: &'static [&'static str],
    /// The user's configuration.
    configuration: &'static str,
    /// Where the program is, which says that it ran.
    program: &'static str,
    /// Shell words that make another of it.
    plants: &'static [&'static str],
}

const EVIL: &str = "#!/bin/sh\necho planted > @HOME/proof\n";

const STARTED: [Started; 3] = [
    Started {
        flags: &[
            "--ask",
            "never",
            "--profile",
            "minimal",
            "--write",
            "@HOME/hooks",
            "--write",
            "@ROOT",
        ],
        configuration: "version = 1\non_violation = [\"@HOME/hooks/n\", \"x\"]\n",
        program: "~/hooks/n",
        plants: &[
            "cat evil > ~/hooks/n",
            "cp evil ~/hooks/m; chmod 755 ~/hooks/m; mv -f ~/hooks/m ~/hooks/n",
            "cp -p evil ~/hooks/m; ln -fs ~/hooks/m ~/hooks/n",
            "mkdir ~/hooks/k; cp -p evil ~/hooks/k/n; mv ~/hooks/n ~/hooks/o; mv ~/hooks/k/n ~/hooks/n",
        ],
    },
    Started {
        flags: &["--ask", "never", "--profile", "workspace"],
        configuration: "version = 1\non_violation = [\"notify-me\"]\n",
        program: "tools/notify-me",
        plants: &[
            "cat evil > tools/notify-me",
            "mv tools old; mkdir tools; cp -p evil tools/notify-me",
            "rm tools/notify-me; cp -p evil tools/notify-me",
        ],
    },
    Started {
        flags: &["--profile", "workspace", "--ask", "command=@ROOT/ask.sh --now"],
        configuration: "version = 1\n",
        program: "ask.sh",
        plants: &[
            "cat evil > ask.sh",
            "mv -f evil ask.sh",
            "ln -sf evil ask.sh",
            "rm ask.sh; cp -p evil ask.sh",
        ],
    },
];

/// The run plants, and does what is refused; so does another one after it, which only reads.
// promise: others.7
#[test]
fn no_program_that_is_started_unconfined_is_another_than_before_the_run() {
    for started in &STARTED {
        for plant in started.plants {
            let begin = || {
                let place = Place::new();
                place.file("~/.config/stockade/config.toml", place.fill(started.configuration));
                place.file("~/outside", "x");
                place.program(started.program, place.fill("#!/bin/sh\necho ran >> @HOME/ran\n"));
                place.program("evil", place.fill(EVIL));
                place
            };
            let violate = |place: &Place, before: &str| {
                let mut command = place.command(STOCKADE);
                let path = format!("{}:/usr/bin:/bin", place.path("tools").display());
                command.env("PATH", path).arg("run").args(["--env", "HOME"]);
                command.args(started.flags.iter().map(|flag| place.fill(flag)));
                let script = format!("{before}; cat {}/outside", place.home.display());
                finish(command.args(["--", "bash", "-c", &script]), b"");
                let marks = || place.home.join("proof").exists() || place.home.join("ran").exists();
                assert!(
                    until(Duration::from_secs(10), marks),
                    "nothing is started for `{plant}`"
                );
                place.home.join("proof").exists()
            };
            let free = begin();
            let home = format!("export HOME={}; {plant}", free.home.display());
            finish(free.command("bash").args(["-c", &home]), b"");
            assert!(violate(&free, ":"), "`{plant}` plants nothing unconfined");
            let held = begin();
            assert!(!violate(&held, plant), "`{plant}`");
            fs::remove_file(held.home.join("ran")).unwrap();
            assert!(!violate(&held, ":"), "`{plant}`, a run later");
        }
    }
}

/// An interpreter loads modules from the directory where it starts, and that is none of the run's.
// promise: others.8
#[test]
fn what_a_run_puts_into_its_root_is_loaded_by_no_program_that_answers() {
    let begin = || {
        let place = Place::new();
        place.file("~/outside", "x");
        place.file(
            "json.py",
            place.fill("open('@HOME/proof', 'w')\ndumps = loads = print\n"),
        );
        place.file("answer/json.py", "");
        place
    };
    let answers = "command=python3 -c 'import json, sys; print(json.dumps({\"answer\": \"no\"}))'";
    let place = begin();
    let imports = ["python3", "-c", "import json"];
    finish(place.command(imports[0]).args(&imports[1..]), b"");
    assert!(
        place.home.join("proof").exists(),
        "nothing is loaded from where it starts"
    );
    let place = begin();
    let outside = place.home.join("outside");
    let words = ["run", "--ask", answers, "--profile", "workspace", "--", "cat"];
    let ended = finish(place.command(STOCKADE).args(words).arg(&outside), b"");
    assert!(ended.stderr().contains("refused"), "{}", ended.stderr());
    assert!(!place.home.join("proof").exists());

    let words = ["run", "--ask", "command=python3 answer/json.py", "--", "true"];
    let ended = finish(place.command(STOCKADE).args(words), b"");
    assert_eq!(ended.status.code(), Some(125));
    assert!(ended.stderr().contains("use the absolute path"), "{}", ended.stderr());
}

/// It is executed by the name that `PATH` led to before the run, and a shell finds nothing before it.
// promise: others.8
#[test]
fn what_a_run_puts_before_a_program_on_path_is_not_started() {
    for (configuration, ask) in [
        ("version = 1\non_violation = [\"notify-me\"]\n", "never"),
        ("version = 1\non_violation = \"notify-me\"\n", "never"),
        ("version = 1\n", "command=notify-me"),
    ] {
        let violate = |planted: bool| {
            let place = Place::new();
            place.file("~/.config/stockade/config.toml", configuration);
            place.file("~/outside", "x");
            place.program("second/notify-me", place.fill("#!/bin/sh\necho ran >> @HOME/ran\n"));
            place.program("evil", place.fill(EVIL));
            fs::create_dir(place.path("first")).unwrap();
            let plant = "cp -p evil first/notify-me";
            if planted {
                finish(place.command("bash").args(["-c", plant]), b"");
            }
            let mut command = place.command(STOCKADE);
            let [first, second] = ["first", "second"].map(|name| place.path(name));
            let path = format!("{}:{}:/usr/bin:/bin", first.display(), second.display());
            command
                .env("PATH", path)
                .args(["run", "--profile", "workspace", "--ask", ask]);
            let script = format!("{plant}; cat {}/outside", place.home.display());
            finish(command.args(["--", "bash", "-c", &script]), b"");
            let marks = || place.home.join("proof").exists() || place.home.join("ran").exists();
            assert!(until(Duration::from_secs(10), marks), "nothing is started");
            place.home.join("proof").exists()
        };
        assert!(
            violate(true),
            "{configuration} {ask}: unconfined it isn't started either"
        );
        assert!(!violate(false), "{configuration} {ask}");
    }
}

/// Who leads `HOME` elsewhere chooses the configuration.
// promise: stockade.5
#[test]
fn the_link_by_which_a_home_is_named_leads_where_it_led() {
    let config = "version = 1\non_violation = \"echo planted > @HOME/proof\"\n";
    for plant in [
        "ln -sfn x h",
        "rm h; ln -s x h",
        "mv h g; mv x h",
        "rm h; mv x h",
        "ln -s x y; mv -T y h",
    ] {
        let begin = || {
            let place = Place::new();
            symlink(&place.home, place.path("h")).unwrap();
            place.file("x/.config/stockade/config.toml", place.fill(config));
            place
        };
        let stockade = |place: &Place, words: &[&str]| {
            let mut command = place.command(STOCKADE);
            command
                .env("HOME", place.path("h"))
                .args(["run", "--ask", "never"])
                .args(words);
            finish(&mut command, b"")
        };
        let violate = |place: &Place| {
            stockade(place, &["--", "cat", "/etc/shadow"]);
            let leads_home = fs::read_link(place.path("h")).is_ok_and(|target| target == place.home);
            !leads_home && until(Duration::from_secs(10), || place.home.join("proof").exists())
        };
        let free = begin();
        finish(free.command("sh").args(["-c", plant]), b"");
        assert!(violate(&free), "`{plant}` plants nothing unconfined");
        let held = begin();
        let root = held.root.to_str().unwrap().to_owned();
        stockade(
            &held,
            &["--profile", "workspace", "--root", &root, "--", "sh", "-c", plant],
        );
        assert!(!violate(&held), "`{plant}`");
    }
}

/// The home is behind a link, `PATH` names it by that link, and a program in it is one too. The last is how Stockade is
/// started.
// promise: stockade.4
#[test]
fn programs_that_the_user_starts_by_name_are_kept_behind_links() {
    let begin = || {
        let place = Place::new();
        symlink(&place.home, place.home.with_file_name("u")).unwrap();
        place.program("~/bin/tool", "#!/bin/sh\n");
        place.program("~/opt/sub/other", "#!/bin/sh\n");
        place.file("~/opt/sub/free", "");
        symlink("../opt/sub/other", place.path("~/bin/other")).unwrap();
        fs::create_dir(place.path("~/own")).unwrap();
        symlink(STOCKADE.path(), place.path("~/own/stk")).unwrap();
        place
    };
    let script = "h=$1; echo x > $h/opt/sub/free && echo free; \
        (echo x > $h/bin/tool) && echo tool; (echo x > $h/bin/new) && echo new; \
        (echo x > $h/opt/sub/other) && echo other; mv $h/opt/sub/other $h/opt/sub/o && echo moved; \
        mv $h/opt/sub $h/opt/s && echo above; ln -sfn x $h/own/stk && echo link; \
        mv $h/own $h/o && echo link above; mv $h/../u $h/../v && echo home";
    let place = begin();
    let mut free = place.command("sh");
    let told = finish(free.args(["-c", script, "sh"]).arg(&place.home), b"").stdout();
    assert_eq!(told, "free\ntool\nnew\nother\nmoved\nabove\nlink\nlink above\nhome\n");
    let place = begin();
    let named = place.home.with_file_name("u");
    let mut held = place.command(place.path("~/own/stk"));
    held.env("HOME", &named)
        .env("PATH", format!("{}/bin:/usr/bin:/bin", named.display()))
        .args(["run", "--ask", "never", "--write"])
        .arg(place.home.parent().unwrap())
        .args(["--", "sh", "-c", script, "sh"])
        .arg(&place.home);
    let finished = finish(&mut held, b"");
    assert_eq!(finished.stdout(), "free\n", "{}", finished.stderr());
}

/// What counts for the next run is what the user wrote.
// promise: stockade.6
#[test]
fn a_run_does_not_rewrite_the_profile_that_it_runs_under() {
    let base = "version = 1\nname = \"base\"\ndescription = \"x\"\n[[read]]\npath = \"./\"\nwhy = \"x\"\n\
                [[write]]\npath = \"./\"\nwhy = \"x\"\n";
    let job = "version = 1\nname = \"job\"\ndescription = \"x\"\nextends = \"./base.toml\"\n";
    for plant in [
        "echo >> job.toml",
        "echo >> base.toml",
        "rm base.toml",
        "cp base.toml b; mv b job.toml",
        "mv l m",
    ] {
        let begin = || {
            let place = Place::new();
            place.file("job.toml", job);
            place.file("base.toml", base);
            symlink(".", place.path("l")).unwrap();
            place
        };
        let seen = |place: &Place| {
            let read = |name| fs::read_to_string(place.path(name)).unwrap_or_default();
            ["job.toml", "base.toml", "l/job.toml"].map(read)
        };
        let before = seen(&begin());
        let free = begin();
        finish(free.command("sh").args(["-c", plant]), b"");
        assert_ne!(seen(&free), before, "`{plant}` changes nothing unconfined");
        let held = begin();
        let mut command = held.command(STOCKADE);
        command.args([
            "run",
            "--ask",
            "never",
            "--profile",
            if plant == "mv l m" {
                "./l/job.toml"
            } else {
                "./job.toml"
            },
        ]);
        let finished = finish(
            command.args(["--", "sh", "-c", &format!("echo > new && echo works; {plant}")]),
            b"",
        );
        assert_eq!(finished.stdout(), "works\n", "{}", finished.stderr());
        assert_eq!(seen(&held), before, "`{plant}`");
    }
}

/// An earlier run may have put the link there.
// promise: others.1
#[test]
fn a_flag_does_not_follow_a_link_of_the_root_out_of_it() {
    let begin = || {
        let place = Place::new();
        place.file("~/private/key", "x");
        place.file("sub/x", "x");
        symlink(place.path("~/private"), place.path("out")).unwrap();
        symlink("sub", place.path("inner")).unwrap();
        symlink(place.path("sub"), place.path("~/alias")).unwrap();
        place
    };
    let run = |flag: &str, path: &str| {
        let place = begin();
        let mut command = place.command(STOCKADE);
        let script = "cat \"$1\"/* >/dev/null && echo read";
        command.args([
            "run",
            "--ask",
            "never",
            flag,
            &place.fill(path),
            "--",
            "sh",
            "-c",
            script,
            "sh",
        ]);
        let finished = finish(command.arg(place.fill(path)), b"");
        let stderr = finished.stderr().replace(place.home.to_str().unwrap(), "@HOME");
        let stderr = stderr.replace(place.root.to_str().unwrap(), "@ROOT");
        (finished.status.code(), finished.stdout(), stderr)
    };
    for flag in ["--write", "--read", "--exec", "--socket"] {
        for path in ["out", "./out", "@ROOT/out", "inner/../out/key"] {
            let (code, _, stderr) = run(flag, path);
            assert_eq!(code, Some(125), "{flag} {path}: {stderr}");
            let says = stderr.contains("`@ROOT/out` is a link on the way to `@HOME/private")
                && stderr.contains("name `@HOME/");
            assert!(says, "{flag} {path}: {stderr}");
        }
    }
    for path in ["inner", "@HOME/alias", "@HOME/private", "sub"] {
        assert_eq!(
            run("--write", path),
            (Some(0), "read\n".into(), String::new()),
            "{path}"
        );
    }
}

/// In some trees no pattern holds: the scratch directory, the command's own installation, directories of packages. What
/// is closed isn't opened by a move into one, and nothing is made closed by a move out of it.
#[test]
fn a_directory_is_not_moved_over_the_border_of_a_tree_where_patterns_are_off() {
    let tree: &[(&str, &str)] = &[
        ("sub/.env", "KEY"),
        ("sub/prod.toml", "KEY"),
        ("sub/proj/.git/hooks/x", "x"),
        ("new/plain", "x"),
    ];
    let into_and_out_of = |free: &str| {
        [
            format!("os.rename('@DIR/sub', '{free}/@N'); read('{free}/@N/.env')"),
            format!("os.rename('@DIR/sub', '{free}/@N'); read('{free}/@N/prod.toml')"),
            format!("os.mkdir('{free}/@N'); renameat2('@DIR/sub', '{free}/@N', 2); read('{free}/@N/.env') # EXCHANGE"),
            format!("os.mkdir('{free}/@N'); renameat2('{free}/@N', '@DIR/sub', 2); read('{free}/@N/.env') # EXCHANGE"),
            format!("os.mkdir('{free}/@N'); write('{free}/@N/.env'); os.rename('{free}/@N', '@DIR/@N')"),
            format!("os.mkdir('{free}/@N'); write('{free}/@N/prod.toml'); os.rename('{free}/@N', '@DIR/@N')"),
            format!("os.mkdir('{free}/@N'); renameat2('{free}/@N', '@DIR/new', 2) # EXCHANGE"),
        ]
    };
    let hooks = "os.rename('@DIR/sub', '@SCRATCH/@N'); write('@SCRATCH/@N/proj/.git/hooks/x'); \
                 os.rename('@SCRATCH/@N', '@DIR/sub')";
    for profile in ["workspace", "filesystem"] {
        let scratch = "(os.environ.get('TMPDIR') or '@HOME/tmp')";
        let mut forms: Vec<_> = into_and_out_of("@SCRATCH")
            .into_iter()
            .chain([hooks.to_owned()])
            .collect();
        forms.extend(
            into_and_out_of("@ROOT/node_modules")
                .into_iter()
                .filter(|form| !form.contains("prod.toml")),
        );
        let mut probe = Probe::new()
            .flags(["--deny", "**/prod.toml", "--write", "@ROOT"])
            .file("node_modules/a/x", "x")
            .works("write('@ROOT/node_modules/a/y'); os.rename('@ROOT/node_modules/a', '@ROOT/node_modules/b')")
            .works(&format!("t = {scratch}; os.makedirs(t, exist_ok=True); write(t + '/f'); os.mkdir(t + '/d'); os.rename(t + '/d', t + '/e')"));
        for (number, form) in forms.iter().enumerate() {
            let form = form.replace("@N", &format!("n{number}"));
            // The scratch directory's name is known inside alone; unconfined it is a directory beside the root.
            let form = form.replace("'@SCRATCH/", &format!("{scratch} + '/"));
            probe = attempts(probe, tree, &[&form]);
        }
        probe.refused(profile, "EXDEV");
    }
}

/// Names of directories tell where packages lie, whose keys are open. So no directory comes to have the first of such names.
#[test]
fn a_directory_does_not_come_to_hold_packages_by_a_new_name() {
    let forms = [
        "os.rename('@DIR/backend', '@DIR/pkg'); read('@DIR/pkg/mod/.env')",
        "os.rename('@DIR/backend', '@DIR/.m2'); read('@DIR/.m2/repository/.env')",
        "os.rename('@DIR/backend', '@DIR/vendor'); read('@DIR/vendor/mod/.env')",
        "os.rename('@DIR/cargo/backend', '@DIR/cargo/registry'); read('@DIR/cargo/registry/src/.env')",
        "os.rename('@DIR/cargo/backend', '@DIR/cargo/git'); read('@DIR/cargo/git/checkouts/.env')",
        "os.rename('@DIR/backend/registry', '@DIR/cargo/registry'); read('@DIR/cargo/registry/src/.env')",
        "os.rename('@DIR/backend', '@DIR/my-cargo'); read('@DIR/my-cargo/registry/src/.env')",
    ];
    let tree: &[(&str, &str)] = &[
        ("backend/mod/.env", "KEY"),
        ("backend/repository/.env", "KEY"),
        ("backend/registry/src/.env", "KEY"),
        ("cargo/backend/src/.env", "KEY"),
        ("cargo/backend/checkouts/.env", "KEY"),
    ];
    let probe = Probe::new()
        .flags(["--write", "@ROOT"])
        .file("plain/x", "x")
        .works("os.rename('@ROOT/plain', '@ROOT/plainer')");
    attempts(probe, tree, &forms).refused("workspace", "EXDEV");
    Probe::new()
        .file("registry/src/.env", "KEY")
        .file("registry/src/plain", "x")
        .works("read('@ROOT/registry/src/plain')")
        .attempt("read('@ROOT/registry/src/.env')")
        .refused("workspace", "EACCES");
}

/// The command's own installation is one of these trees.
#[test]
fn a_directory_is_not_moved_into_the_installation_that_a_command_belongs_to() {
    let code = "import os, sys\nfor a, b in [('sub', 'env/sub'), ('env/made', 'made')]:\n  \
                try: os.rename(a, b); print('moved', a)\n  \
                except OSError as error: print(error.strerror)\n";
    let begun = run().file("sub/.env", "KEY");
    let made = std::process::Command::new(python())
        .args(["-m", "venv", "--without-pip"])
        .arg(begun.place.path("env"))
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return crate::common::skipped("Python makes no virtual environment here");
    }
    begun
        .file("env/made/.env", "KEY")
        .profile("workspace")
        .command(["env/bin/python", "-I", "-c", code])
        .stdout("Invalid cross-device link\nInvalid cross-device link\n")
        .any_stderr()
        .ends();
}

/// `git status` at the top of a repository goes into its submodules, and starts what their configuration names.
// promise: guarded.6
#[test]
fn nothing_comes_to_be_where_git_takes_it_for_a_submodule() {
    let code = "import os\n\
                def tell(word, act):\n  \
                  try: act(); print(word, 'done')\n  \
                  except OSError: print(word, 'refused')\n\
                def write(path):\n  \
                  with open(path, 'w') as file: file.write('gitdir: ../own/evil\\n')\n\
                os.makedirs('own/evil'); write('own/.git'); os.mkdir('own/repository'); os.mkdir('own/repository/.git')\n\
                tell('file', lambda: write('empty/.git'))\n\
                tell('directory', lambda: os.mkdir('empty/.git'))\n\
                tell('link', lambda: os.symlink('../own/evil', 'empty/.git'))\n\
                tell('hard link', lambda: os.link('own/.git', 'empty/.git'))\n\
                tell('moved', lambda: os.rename('own/.git', 'empty/.git'))\n\
                tell('moved directory', lambda: os.rename('own/repository/.git', 'empty/.git'))\n\
                tell('in a new place', lambda: (os.rename('sub', 'away'), os.mkdir('sub'), write('sub/.git')))\n\
                os.rmdir('sub'); tell('in its place', lambda: os.rename('own', 'sub'))\n\
                os.rmdir('empty'); os.mkdir('empty'); tell('anew', lambda: write('empty/.git'))\n";
    let with_empty = |begun: Run| {
        std::fs::create_dir(begun.place.path("empty")).unwrap();
        begun.profile("workspace")
    };
    with_empty(run())
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file("sub/.git", "gitdir: ../.git/modules/sub\n")
        .python(code)
        .stdout(
            "file refused\ndirectory refused\nlink refused\nhard link refused\nmoved refused\nmoved directory refused\n\
             in a new place refused\nin its place refused\nanew refused\n",
        )
        .any_stderr()
        .ends();
    // The root itself may be a submodule's place.
    for root in ["sub", "sub/deep"] {
        let begun = run().file(".git/HEAD", "ref: refs/heads/main\n").file("sub/deep/x", "");
        let root = begun.place.path(root).display().to_string();
        begun
            .without_root()
            .profile("workspace")
            .flags(["--root", &root])
            .bash("mkdir .git || echo refused; : >.git || echo refused")
            .stdout("refused\nrefused\n")
            .any_stderr()
            .ends();
    }
    // It goes to where there is no repository around it, and would come back.
    run()
        .file("repository/.git/HEAD", "ref: refs/heads/main\n")
        .file("repository/src/x", "")
        .profile("workspace")
        .bash(
            "mv repository/src . && mkdir src/.git || echo refused; mkdir src/new; : >src/new/.git && echo own; \
             mv src repository && echo back",
        )
        .stdout("refused\nown\nback\n")
        .any_stderr()
        .ends();
    // What is looked for may be closed for that moment.
    let begun = run().file(".git/HEAD", "ref: refs/heads/main\n").file("sub/x", "");
    begun
        .profile("workspace")
        .python(
            "import os\n\
             top, sub = os.open('.', os.O_RDONLY), os.open('sub', os.O_RDONLY)\n\
             os.chmod('.', 0)\n\
             try: os.mkdir('.git', dir_fd=sub)\n\
             except OSError: print('refused')\n\
             os.fchmod(top, 0o755)",
        )
        .stdout("refused\n")
        .any_stderr()
        .ends();
    let begun = run().file("user/a", "").file("place/x", "");
    begun
        .profile("workspace")
        .python(
            "import os\n\
             os.makedirs('place/own/.vscode'); os.rename('user', 'away'); place = os.open('place', os.O_RDONLY)\n\
             os.chmod('place', 0)\n\
             try: os.symlink('place/own', 'user')\n\
             except OSError: print('refused')\n\
             os.fchmod(place, 0o755)",
        )
        .stdout("refused\n")
        .any_stderr()
        .ends();
    // A repository that was the user's has nothing else in its place.
    run()
        .file("a/.git/HEAD", "ref: refs/heads/main\n")
        .profile("workspace")
        .bash(
            "mkdir -p own/.git; mv a b; mkdir a; echo 'gitdir: ../own/.git' >a/.git || echo refused; \
             mkdir a/c; : >a/c/.git || echo refused; mkdir a/.git || echo refused",
        )
        .stdout("refused\nrefused\nrefused\n")
        .any_stderr()
        .ends();
    // Where there is no repository around it, one is made.
    with_empty(run())
        .python("import os; os.mkdir('empty/.git'); os.mkdir('.git'); os.makedirs('made/.git')")
        .ends();
}

/// Its name doesn't tell, but the `.git` file of the root.
// promise: guarded.7
#[test]
fn a_git_directory_of_another_name_keeps_what_git_obeys() {
    let of = |name: &str| format!("{name}/config {name}/hooks/pre-commit {name}/commondir {name}/info/attributes");
    let code = format!(
        "for file in {}; do echo evil >>$file 2>&- && echo $file; done; mv .bare/hooks away; mv .bare away; rm .bare/config\n\
         mkdir -p .bare/objects/info; echo ../../evil >.bare/objects/info/alternates && echo alternates\n\
         echo x >.bare/objects/x; echo x >.bare/HEAD; cat .bare/objects/x .bare/config",
        of(".bare")
    );
    let begun = run()
        .file(".git", "gitdir: ./.bare/worktrees/w\n")
        .file(".bare/worktrees/w/commondir", "../..\n")
        .file(".bare/config", "[core]\n")
        .file(".bare/hooks/pre-commit", "#!/bin/sh\n");
    let ran = begun
        .profile("workspace")
        .bash(&code)
        .stdout("x\n[core]\n")
        .any_stderr()
        .ends();
    assert!(!ran.place.path(".bare/info/attributes").exists());
}

/// Where programs move something that can't be moved they copy it, and each file is judged.
#[test]
fn what_is_moved_out_of_the_scratch_directory_arrives_as_a_copy() {
    run()
        .profile("workspace")
        .bash(
            "mkdir -p $TMPDIR/new $TMPDIR/.vscode; echo open >$TMPDIR/new/a; echo evil >$TMPDIR/.vscode/tasks.json; \
             echo file >$TMPDIR/f; mv $TMPDIR/f f; mv $TMPDIR/new new; cat f new/a; \
             mv $TMPDIR/.vscode .; test -e .vscode || echo kept",
        )
        .stdout("file\nopen\nkept\n")
        .stderr_has(".vscode")
        .ends();
}

#[test]
fn the_scratch_directory_stays_where_it_is() {
    for flags in [["--root", "@HOME"], ["--write", "@HOME"]] {
        let begun = run();
        let begun = match flags[0] {
            "--root" => begun.without_root(),
            _ => begun,
        };
        begun
            .profile("workspace")
            .flags(flags)
            .bash("mv -T \"$TMPDIR\" @HOME/stolen; mkdir -p @HOME/d; mv -T --exchange \"$TMPDIR\" @HOME/d; test -d \"$TMPDIR\" && test ! -e @HOME/stolen && echo there")
            .stdout("there\n")
            .any_stderr()
            .ends();
    }
}

/// A directory on the way to the configuration that can't be read, or that others may write, would switch it off.
// promise: secrets.14
#[test]
fn who_may_use_the_directories_above_a_closed_name_stays_as_it_is() {
    for profile in ["workspace", "minimal", "trusted"] {
        let probe = Probe::new()
            .flags(["--write", "@HOME"])
            .file("~/.config/stockade/config.toml", "version = 1\n")
            .file("~/.config/other/file", "x")
            .works("os.chmod('@HOME/.config/other', 0o700); os.utime('@HOME/.config')")
            .attempt("os.chmod('@HOME/.config', 0o000); os.chmod('@HOME/.config', 0o700)")
            .attempt("os.chmod('@HOME/.config', 0o777)")
            .attempt("os.fchmod(os.open('@HOME/.config', os.O_RDONLY), 0o777)")
            .attempt("os.chmod('@HOME', 0o777)")
            .attempt("os.chown('@HOME/.config', os.getuid(), os.getgid())")
            .attempt_if_possible("os.setxattr('@HOME/.config', 'user.stockade', b'x')");
        probe.refused(profile, "EPERM");
    }
}

/// What a run fills in a directory of its own isn't led to from where the user's was, in whichever order.
#[test]
fn no_link_puts_what_the_run_made_in_the_place_of_what_was_there() {
    let tree: &[(&str, &str)] = &[("lib/.vscode/tasks.json", "mine"), ("docs/text", "mine")];
    let fill = "os.makedirs('@DIR/evil/.vscode'); write('@DIR/evil/.vscode/tasks.json')";
    let away = "os.rename('@DIR/lib', '@DIR/old')";
    let planted = "expect(read('@DIR/lib/.vscode/tasks.json') != 'mine')";
    let ways = [
        format!("{fill}; {away}; os.symlink('evil', '@DIR/lib'); {planted}"),
        format!("{fill}; {away}; os.symlink('evil', '@DIR/l'); os.rename('@DIR/l', '@DIR/lib'); {planted}"),
        format!("{fill}; os.symlink('evil', '@DIR/l'); renameat2('@DIR/l', '@DIR/lib', 2); {planted} # EXCHANGE"),
        format!(
            "{fill}; os.symlink('evil', '@DIR/l'); renameat2('@DIR/lib', '@DIR/l', 2); {planted} # the other way round"
        ),
        format!(
            "{fill}; {away}; os.symlink('evil', '@DIR/l'); \
             os.link('@DIR/l', '@DIR/lib', follow_symlinks=False); {planted}"
        ),
        format!(
            "{away}; os.mkdir('@DIR/evil'); os.symlink('evil', '@DIR/lib'); os.mkdir('@DIR/evil/.vscode'); write('@DIR/evil/.vscode/tasks.json'); {planted}"
        ),
        format!("{away}; os.symlink('evil', '@DIR/lib'); {fill}; {planted}"),
        format!("{away}; os.symlink('evil', '@DIR/hop'); os.symlink('hop/.', '@DIR/lib'); {fill}; {planted}"),
        format!(
            "{away}; os.symlink('evil', '@DIR/lib'); {}; os.rename('@DIR/e', '@DIR/evil'); {planted}",
            fill.replace("/evil", "/e")
        ),
        format!(
            "{away}; os.makedirs('@DIR/some/dir'); os.symlink('some/dir', '@DIR/lib'); os.rename('@DIR/some', '@DIR/some2'); \
             {}; os.rename('@DIR/e', '@DIR/some'); {planted}",
            fill.replace("/evil", "/e/dir")
        ),
        format!(
            "os.makedirs('@DIR/docs/.git/hooks'); write('@DIR/docs/.git/hooks/x'); {away}; os.rename('@DIR/docs', '@DIR/lib')"
        ),
    ];
    for profile in WRITING {
        for way in &ways {
            let probe = Probe::new().works("os.symlink('a', 'l1'); os.unlink('l1'); os.symlink('b', 'l1')");
            attempts(probe, tree, &[way]).refused(profile, "EACCES|EXDEV");
        }
    }
}

/// Links change as ever where the run fills nothing, and what was moved away comes back.
#[test]
fn links_are_changed_and_directories_put_back() {
    let begun = run()
        .file("v1/plain", "one")
        .file("v2/plain", "two")
        .file("lib/.vscode/tasks.json", "mine");
    std::os::unix::fs::symlink("v1", begun.place.path("cur")).unwrap();
    begun
        .profile("workspace")
        .bash(
            "ln -sfn v2 cur; cat cur/plain; mv lib away; mkdir -p own/.vscode; echo x >own/.vscode/tasks.json; mv away lib; \
             ln -s own other; rm other; ln -s own other; cat other/.vscode/tasks.json lib/.vscode/tasks.json",
        )
        .stdout("twox\nmine")
        .ends();
}
