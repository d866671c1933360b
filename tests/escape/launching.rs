//! A link that comes and goes while a run launches: what a flag names below the root is in the root, or nothing starts.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use stockade::internal::Surroundings;
use stockade::{Error, Output, Sandbox, Trace};
use stockade_policy::policy::{Capabilities, Role};
use stockade_policy::profile::Catalog;

use crate::common::{Beside, Place, STOCKADE, finish, tries};

/// A root, with a secret outside it that a link in it could lead to.
fn place() -> Place {
    let place = Place::new();
    place.file("~/private/f", "SECRET");
    place
}

/// A sandbox with one of the flags on `tgt`.
fn sandbox(place: &Place, flag: &str, trace: Trace) -> Sandbox {
    let sandbox = Sandbox::profile("minimal").unwrap().root(&place.root).trace(trace);
    let path = place.path("tgt");
    match flag {
        "--read" => sandbox.read(path),
        "--write" => sandbox.write(path),
        "--exec" => sandbox.exec(path),
        other => panic!("{other}"),
    }
}

fn read_secret(place: &Place, sandbox: &Sandbox) -> Result<Output, Error> {
    sandbox.command("cat").arg(place.path("~/private/f")).output()
}

fn unconfined_it_is_read(place: &Place) {
    let finished = finish(place.command("cat").arg("tgt/f"), b"");
    assert_eq!(finished.stdout(), "SECRET", "so this proves nothing");
}

const FLAGS: [&str; 3] = ["--read", "--write", "--exec"];

#[test]
fn a_link_out_of_the_root_that_is_gone_by_the_launch_grants_nothing() {
    for flag in FLAGS {
        let place = place();
        symlink(place.path("~/private"), place.path("tgt")).unwrap();
        unconfined_it_is_read(&place);
        let sandbox = sandbox(&place, flag, Trace::Exact);
        fs::remove_file(place.path("tgt")).unwrap();
        fs::create_dir(place.path("tgt")).unwrap();
        let refused = read_secret(&place, &sandbox);
        assert!(matches!(refused, Err(Error::FlagLinkOut { .. })), "{flag}: {refused:?}");
    }
}

/// Where an earlier run could write, what a flag names may be a link of its own.
// promise: others.2
#[test]
fn a_link_out_of_another_written_tree_stops_the_launch() {
    let place = place();
    let shared = place.path("~/shared");
    fs::create_dir_all(&shared).unwrap();
    symlink(place.path("~/private"), shared.join("tgt")).unwrap();
    let free = finish(place.command("cat").arg(shared.join("tgt/f")), b"");
    assert_eq!(free.stdout(), "SECRET", "so this proves nothing");
    let sandbox = || Sandbox::profile("minimal").unwrap().write(&shared);
    let named = [
        sandbox().root(&place.root).read(shared.join("tgt")),
        sandbox().root(shared.join("tgt")),
    ];
    for sandbox in named {
        let refused = read_secret(&place, &sandbox);
        assert!(matches!(refused, Err(Error::FlagLinkOut { .. })), "{refused:?}");
    }
    // Without a run that could have made it, the link is its user's.
    let read = read_secret(
        &place,
        &Sandbox::profile("minimal")
            .unwrap()
            .root(&place.root)
            .read(shared.join("tgt")),
    );
    assert_eq!(read.unwrap().stdout, b"SECRET");
}

/// The run that could have written the tree may have had another role.
#[test]
fn a_role_that_writes_nothing_names_no_root_by_a_link_of_a_written_tree() {
    let place = place();
    fs::create_dir(place.path("~/shared")).unwrap();
    symlink(place.path("~/private"), place.path("~/shared/tgt")).unwrap();
    let mut role = Role::WHOLE;
    role.capabilities = Capabilities::READ | Capabilities::EXECUTE;
    let sandbox = || {
        Sandbox::profile("minimal")
            .unwrap()
            .write(place.path("~/shared"))
            .role(role.clone())
    };
    let refused = read_secret(&place, &sandbox().root(place.path("~/shared/tgt")));
    assert!(matches!(refused, Err(Error::FlagLinkOut { .. })), "{refused:?}");
    let started = read_secret(&place, &sandbox().root(place.path("~/shared")));
    assert!(started.is_ok(), "{started:?}");
}

/// A run whose root was the caller's directory may have made the link.
// promise: others.2
#[test]
fn a_link_out_of_the_callers_directory_stops_the_launch() {
    let place = place();
    symlink(place.path("~/private"), place.path("tgt")).unwrap();
    unconfined_it_is_read(&place);
    std::env::set_current_dir(&place.root).unwrap();
    fs::create_dir(place.path("other")).unwrap();
    let other = || Sandbox::profile("minimal").unwrap();
    for sandbox in [other().root("tgt"), other().root("other").read("tgt")] {
        let refused = read_secret(&place, &sandbox);
        assert!(matches!(refused, Err(Error::FlagLinkOut { .. })), "{refused:?}");
    }
}

/// Between the steps of a start another run puts a link in the place of the directory.
#[test]
fn the_callers_directory_is_the_root_whatever_its_name_leads_to_by_now() {
    let place = place();
    fs::create_dir(place.path("tgt")).unwrap();
    std::env::set_current_dir(place.path("tgt")).unwrap();
    let profile = || Catalog::new(None).load("readonly").unwrap();
    let surroundings = Surroundings::here().unwrap();
    let early = Sandbox::of(profile(), surroundings.clone(), Vec::new());
    fs::rename(place.path("tgt"), place.path("own")).unwrap();
    symlink(place.path("~/private"), place.path("tgt")).unwrap();
    unconfined_it_is_read(&place);
    let late = Sandbox::of(profile(), surroundings, Vec::new());
    for sandbox in [late.clone(), late.clone().root("."), late.root("f/..")] {
        let refused = read_secret(&place, &sandbox);
        assert!(matches!(refused, Err(Error::Moved(_))), "{refused:?}");
    }
    let refused = read_secret(&place, &early);
    assert!(matches!(refused, Err(Error::Root { .. })), "{refused:?}");
}

#[test]
fn a_link_that_is_made_after_the_look_at_a_flag_stops_the_launch() {
    for flag in FLAGS {
        for trace in [Trace::Exact, Trace::Marked] {
            let place = place();
            fs::create_dir(place.path("tgt")).unwrap();
            let sandbox = sandbox(&place, flag, trace);
            fs::remove_dir(place.path("tgt")).unwrap();
            symlink(place.path("~/private"), place.path("tgt")).unwrap();
            unconfined_it_is_read(&place);
            let error = read_secret(&place, &sandbox).expect_err(flag);
            let expected = format!("can't open `{}`", place.path("tgt").display());
            assert_eq!(error.to_string(), expected, "{flag} {trace:?}");
            assert!(error.hint().unwrap().contains("link"), "{flag} {trace:?}");
        }
    }
}

/// Another process makes the link and takes it away, as fast as it can.
// promise: others.3
#[test]
fn a_run_that_swaps_a_link_while_another_launches_opens_nothing_outside_the_root() {
    const SWAP: &str =
        "import os\nprint('ready', flush=True)\nwhile True:\n  os.symlink('@HOME/private', 'tgt'); os.unlink('tgt')";
    let place = place();
    let _swapping = Beside::new(&place, &place.fill(SWAP));
    let script = place.fill("cat @HOME/private/f; echo x >@HOME/private/planted; echo started");
    let free = finish(place.command("sh").args(["-c", &script]), b"");
    assert_eq!(free.stdout(), "SECRETstarted\n", "so this proves nothing");
    fs::remove_file(place.path("~/private/planted")).unwrap();

    let begun = Instant::now();
    let mut seen = [0, 0];
    // Until it was a link in one look and none in another, or the race isn't on.
    while begun.elapsed() < Duration::from_secs(tries(3, 60)) || seen.contains(&0) {
        for flag in ["--write=./tgt", "--read=./tgt", "--exec=./tgt", "--write=./tgt/f"] {
            let mut command = place.command(STOCKADE);
            command.args(["run", "--ask", "never", "--profile", "minimal", flag, "--", "sh", "-c"]);
            let finished = finish(command.arg(&script), b"");
            let (stdout, stderr) = (finished.stdout(), finished.stderr());
            assert!(!stdout.contains("SECRET"), "{flag}: read after {seen:?}");
            assert!(
                !place.path("~/private/planted").exists(),
                "{flag}: written after {seen:?}"
            );
            seen[usize::from(stderr.contains("leads out of `"))] += 1;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "no race: {seen:?}");
    }
}
