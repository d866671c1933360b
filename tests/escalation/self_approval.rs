//! A target that looks for a way to approve itself: the sockets, the databases, the configuration. At the terminal it
//! tries in `self_approval_at_the_terminal`.

use crate::common::{Probe, STOCKADE, run};

/// Some of what a probe looks for isn't even there.
const REFUSED: &str = "EACCES|EPERM|ENOENT|EXDEV|EBADMSG";

/// What a person who watches leaves lying around: a stored grant, a trail, a socket; and where the socket is.
const WATCHED: &str = r#"
S = '@HOME/.local/state/stockade'
answer = """command=echo '{"answer":"yes","lifetime":"always"}'"""
subprocess.run([STOCKADE, 'run', '--ask', answer, '--', 'cat', 'file'], check=True, capture_output=True)
for name in 'audit.db', 'audit.head', 'audit.log', 'grants.db': os.stat(S + '/' + name)
with open('@ROOT/pid', 'w') as f: f.write(str(os.getpid()))
if os.fork() == 0:
    wait_for(S + '/approvals')
    end = time.monotonic() + 20
    while not (found := [name for name in os.listdir(S + '/approvals') if name.endswith('.sock')]):
        expect(time.monotonic() < end)
        time.sleep(0.01)
    with open('@ROOT/where', 'w') as f: f.write(S + '/approvals/' + found[0])
    ready()
    os._exit(0)
# It goes on as long as its input isn't closed, which only it could do.
reader, writer = os.pipe()
os.dup2(reader, 0)
os.set_inheritable(writer, True)
os.dup2(os.open('/dev/null', os.O_WRONLY), 1)
os.execv(STOCKADE, ['stockade', 'approvals', '--watch', '--plain'])
"#;

fn watched() -> Probe {
    Probe::new()
        .file("file", "x")
        .file("~/.config/stockade/config.toml", "version = 1\n")
        .beside(&format!("STOCKADE = '{STOCKADE}'\n{WATCHED}"))
        // The watcher is asked, and says nothing.
        .flags(["--ask-timeout", "100ms"])
}

/// To ask in another's name.
const SOCKET: &[&str] = &[
    "@NAMES; socket.socket(socket.AF_UNIX).connect(W)",
    "@NAMES; os.symlink(W, 'link'); socket.socket(socket.AF_UNIX).connect('link')",
    "@NAMES; os.symlink(S, 'state'); socket.socket(socket.AF_UNIX).connect('state/approvals/' + W.split('/')[-1])",
    "@NAMES; os.link(W, 'hard'); socket.socket(socket.AF_UNIX).connect('hard')",
    "@NAMES; os.chdir(S + '/approvals'); socket.socket(socket.AF_UNIX).connect(W.split('/')[-1])",
    "@NAMES; d = os.open(S + '/approvals', os.O_PATH); \
     socket.socket(socket.AF_UNIX).connect('/proc/self/fd/%d/%s' % (d, W.split('/')[-1]))",
    "@NAMES; p = os.open(W, os.O_PATH); socket.socket(socket.AF_UNIX).connect('/proc/self/fd/%d' % p)",
    "@NAMES; expect(os.listdir(S + '/approvals'))",
    // The kernel tells by which descriptor of the watcher's its socket was bound.
    "@NAMES; P = open('@ROOT/pid').read()\n\
     N = {line.split('/')[4] for line in open('/proc/net/unix') if 'thread-self/fd/' in line}; expect(N)\n\
     R = {socket.socket(socket.AF_UNIX).connect_ex('/proc/%s/fd/%s/%s' % (P, n, W.split('/')[-1])) for n in N}\n\
     if 0 not in R: raise OSError(min(R), '')",
    "@NAMES; os.rename(W, W + '.x'); os.rename(W + '.x', W)",
];

/// To be asked in the person's place.
const WATCHING: &[&str] = &[
    "@NAMES; s = socket.socket(socket.AF_UNIX); s.bind(S + '/approvals/1-x.sock'); os.unlink(S + '/approvals/1-x.sock')",
    "@NAMES; s = socket.socket(socket.AF_UNIX); s.bind('own'); os.rename('own', S + '/approvals/1-y.sock'); \
     os.unlink(S + '/approvals/1-y.sock')",
    "@NAMES; os.symlink('/x', S + '/approvals/1-z.sock'); os.unlink(S + '/approvals/1-z.sock')",
    "@NAMES; os.rename(S + '/approvals', S + '/a'); os.mkdir(S + '/approvals'); os.rmdir(S + '/approvals'); \
     os.rename(S + '/a', S + '/approvals')",
];

/// To change what was granted, or what is remembered of it: for each of the files.
const STORED: &[&str] = &[
    "@NAMES; read(F)",
    "@NAMES; write(F, 'ab')",
    "@NAMES; os.open(F, os.O_RDWR)",
    "@NAMES; os.symlink(F, 'l-@FILE'); read('l-@FILE')",
    "@NAMES; os.link(F, 'h-@FILE'); write('h-@FILE', 'ab')",
    "@NAMES; os.rename(F, F + '.x'); os.rename(F + '.x', F)",
    "@NAMES; write('f-@FILE'); os.link(F, F + '.y'); os.rename('f-@FILE', F); os.rename(F + '.y', F)",
    "@NAMES; os.chmod(F, 0o666)",
    "@NAMES; write(F + '-wal', 'ab')",
    "@NAMES; os.open(S, os.O_TMPFILE | os.O_RDWR)",
];

/// To put others in their place, or to have a command told of each denial.
const DIRECTORIES: &[&str] = &[
    "@NAMES; os.rename(S, S + '.x'); os.rename(S + '.x', S)",
    "@NAMES; os.mkdir('other'); renameat2('other', S, 2); renameat2('other', S, 2)",
    "os.rename('@HOME/.local/state', '@HOME/.local/s'); os.rename('@HOME/.local/s', '@HOME/.local/state')",
    "os.rename('@HOME/.local', '@HOME/l'); os.rename('@HOME/l', '@HOME/.local')",
    "@NAMES; read(C)",
    "@NAMES; write(C, 'ab')",
    "@NAMES; os.rename(C, C + '.x'); os.rename(C + '.x', C)",
    "@NAMES; write('new.toml'); os.link(C, C + '.y'); os.rename('new.toml', C); os.rename(C + '.y', C)",
    "os.rename('@HOME/.config/stockade', '@HOME/.config/s'); os.rename('@HOME/.config/s', '@HOME/.config/stockade')",
    "write('@HOME/.config/stockade/models.toml')",
    "os.mkdir('@HOME/.config/stockade/profiles')",
];

fn stored_form(form: &str, file: &str) -> String {
    let form = form.replace("@NAMES", &format!("@NAMES; F = S + '/{file}'"));
    form.replace("@FILE", file)
}

/// All of it works unconfined; in a run nothing does.
fn refused(profile: &str) {
    let files = ["audit.db", "grants.db", "audit.head", "audit.log"];
    let stored = files
        .iter()
        .flat_map(|file| STORED.iter().map(move |form| stored_form(form, file)));
    let others = [SOCKET, WATCHING, DIRECTORIES].concat();
    let all = others.iter().map(ToString::to_string).chain(stored);
    let names = "S = '@HOME/.local/state/stockade'; C = '@HOME/.config/stockade/config.toml'; \
                 W = open('@ROOT/where').read()";
    let attempts = all.map(|form| form.replace("@NAMES", names));
    let probe = watched().works("read('@ROOT/where'); socket.socket(socket.AF_UNIX)");
    let probe = attempts.fold(probe, |probe, code| probe.attempt(&code));
    probe.refused(profile, REFUSED);
}

// promise: answers.1
#[test]
fn under_workspace_a_target_finds_no_way_to_approve_itself() {
    refused("workspace");
}

// promise: answers.1
#[test]
fn under_trusted_a_target_finds_no_way_to_approve_itself() {
    refused("trusted");
}

#[test]
fn a_flag_that_names_a_socket_of_stockades_is_refused() {
    let state = "@HOME/.local/state/stockade";
    let void = "grants nothing";
    for (path, why) in [
        (format!("{state}/approvals/1-a.sock"), void),
        (format!("{state}/approvals"), void),
        (state.to_string(), void),
        ("link".to_string(), "leads out of `"),
    ] {
        let begun = run().file("~/.local/state/stockade/approvals/x.sock", "");
        std::os::unix::fs::symlink(begun.place.state().join("approvals/x.sock"), begun.place.path("link")).unwrap();
        begun
            .flags(["--socket", &path])
            .status(125)
            .stderr_has(&format!("stockade: `--socket {path}` {why}"))
            .ends();
    }
}
