//! Nothing that a run can write, name or start loosens this run or the next one.

use super::cases::SUPERVISED;
use crate::common::{Probe, STOCKADE};

#[test]
fn files_that_an_earlier_run_may_have_left() {
    let policy = "version = 1\nname = \"workspace\"\ndescription = \"x\"\n\n[[write]]\npath = \"/\"\nwhy = \"x\"\n";
    for profile in SUPERVISED {
        Probe::new()
            .file(".env", "SECRET")
            .file("secrets/x", "SECRET")
            .file(".stockade/config.toml", "allow = [\"**\"]\nsecrets = []\n[secrets]\n")
            .file(".stockade/profiles/workspace.toml", policy)
            .file("stockade.toml", policy)
            .file("workspace.toml", policy)
            .file("workspace", policy)
            .file(".stockadeignore", "*\n")
            .file("secrets/.stockade/config.toml", policy)
            .beside(
                "for path in '.', '.env', 'secrets':\n  \
                   for name in 'user.stockade.allow', 'user.stockade', 'user.nono.allow':\n    \
                     try: os.setxattr(path, name, b'read,write')\n    \
                     except OSError: pass\n\
                 ready()\n\
                 time.sleep(60)\n",
            )
            .attempt("read('.env')")
            .attempt("read('secrets/x')")
            .attempt("read('/proc/self/cwd/.env')")
            .attempt("os.environ.update(STOCKADE_PROFILE='trusted', STOCKADE='off'); read('.env')")
            .attempt("write('.env', 'ab')")
            .refused(profile, "EACCES");
    }
}

// promise: stockade.1
#[test]
fn stockades_own_files_are_closed() {
    let own = "version = 1\nname = \"own\"\ndescription = \"x\"\n";
    for profile in ["trusted", "mcp-standard"] {
        Probe::new()
            .file("~/.config/stockade/profiles/own.toml", own)
            .file("~/.local/state/stockade/store", "state")
            .attempt("read('@HOME/.config/stockade/profiles/own.toml')")
            .attempt("write('@HOME/.config/stockade/profiles/own.toml', 'ab')")
            .attempt("write('@HOME/.config/stockade/config.toml')")
            .attempt("os.unlink('@HOME/.config/stockade/profiles/own.toml')")
            .attempt("os.rename('@HOME/.config/stockade', '@HOME/.config/s')")
            .attempt("os.chmod('@HOME/.local/state/stockade/store', 0o777)")
            .attempt("read('@HOME/.local/state/stockade/store')")
            .attempt("write('@HOME/.local/state/stockade/store', 'ab')")
            .attempt("os.link('@HOME/.local/state/stockade/store', '@HOME/l'); read('@HOME/l')")
            .attempt("os.symlink('@HOME/.local/state/stockade', '@HOME/m'); read('@HOME/m/store')")
            .refused(profile, "EACCES|EPERM|EXDEV|ENOENT");
    }
}

#[test]
fn a_run_inside_a_run_has_no_more_power() {
    // Unconfined, each of these does it.
    let nested = |profile: &str, code: &str| {
        format!(
            "# {profile}: {code}\n\
             subprocess.run(['{STOCKADE}', 'run', '--profile', '{profile}', '--root', '@ROOT', '--', 'sh', '-c', '{code}'],\n  \
               stdout=-3, stderr=-3)\n\
             expect(os.path.exists('@ROOT/done'))\nos.unlink('@ROOT/done')"
        )
    };
    Probe::new()
        .file("plain", "plain")
        .file("x/y", "y")
        .attempt(&nested("trusted", "echo > @ROOT/done"))
        .attempt(&nested("workspace", "echo > @ROOT/done"))
        .attempt(&nested("workspace", "cp @ROOT/plain @ROOT/done"))
        .attempt(&nested(
            "trusted",
            "ln -s x @ROOT/x/l && mkdir @ROOT/done && rmdir @ROOT/done && echo > @ROOT/done",
        ))
        .attempt(&nested("trusted", "cd x && echo > ../done"))
        .refused("mcp-standard", "EBADMSG");
}

// promise: files.20
#[test]
fn a_profile_that_lists_nothing_grants_nothing() {
    for lists in ["", "extends = \"minimal\"\n", "read = []\nwrite = []\nexec = []\n"] {
        let document = format!("version = 1\nname = \"empty\"\ndescription = \"x\"\n{lists}");
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let written = directory.path().join("empty.toml");
        std::fs::write(&written, document).unwrap();
        let profile = written.to_str().unwrap();
        Probe::new()
            .file("plain", "plain")
            .file("data/x", "x")
            .works("read('/etc/passwd')")
            .attempt("read('plain')")
            .attempt("read('data/x')")
            .attempt("write('new')")
            .attempt("os.listdir('/tmp')")
            .attempt("write('/tmp/stockade-none'); os.unlink('/tmp/stockade-none')")
            .attempt("s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()")
            .refused(profile, "EACCES|EPERM");
    }
}
