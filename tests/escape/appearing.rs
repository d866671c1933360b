//! What becomes a secret while the run runs, by somebody else's hand, is closed as well where the supervisor judges all reads.

use super::cases::{SUPERVISED, in_tmp};
use crate::common::Probe;

/// Outside: waits until the run says so, then makes secrets of every kind.
const MAKES: &str = "ready()\n\
    wait_for('@MARK')\n\
    os.chdir('@ROOT')\n\
    def make(path):\n  \
      os.makedirs(os.path.dirname(path) or '.', exist_ok=True)\n  \
      with open(path, 'w') as f: f.write('SECRET')\n\
    make('.env'); make('late/secrets/token'); make('late/x.pem')\n\
    make('moved-in.tmp'); os.rename('moved-in.tmp', 'late/.env')\n\
    make('dir/token'); os.rename('dir', 'late/more-secrets'); os.rename('late/more-secrets', 'secrets')\n\
    make('linked-source.key'); os.symlink('../linked-source.key', 'late/link')\n\
    make('was/open/doc.key'); os.rename('was', 'is')\n\
    make('plain')\n\
    os.mkdir('repo'); make('repo/.git/hooks/pre-commit'); make('repo/.git/config')\n\
    make('finished')\n\
    time.sleep(60)\n";

// promise: secrets.5
#[test]
fn a_secret_that_appears_during_the_run_is_closed() {
    let tmp = in_tmp();
    // The place's name tells the two runs apart.
    let mark = format!(
        "{}/' + os.path.dirname('@ROOT').replace('/', '_') + '",
        tmp.path().display()
    );
    let makes = MAKES.replace("@MARK", &mark);
    for profile in SUPERVISED {
        Probe::new()
            .flags(["--trace", "exact"])
            .beside(&makes)
            .works(&format!("write('{mark}'); wait_for('@ROOT/finished')"))
            .works("read('plain')")
            .attempt("read('.env')")
            .attempt("read('late/secrets/token')")
            .attempt("read('late/x.pem')")
            .attempt("read('late/.env')")
            .attempt("read('secrets/token')")
            .attempt("read('late/link')")
            .attempt("read('is/open/doc.key')")
            .attempt("p = os.open('late/.env', os.O_PATH); read('/proc/self/fd/%d' % p)")
            .attempt("os.chdir('late'); read('/proc/self/cwd/x.pem')")
            .attempt("os.open('token', 0, dir_fd=os.open('late/secrets', os.O_PATH))")
            .refused(profile, "EACCES");
        // The tempdir is the next profile's too.
        for entry in std::fs::read_dir(tmp.path()).unwrap().flatten() {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
}

// promise: guarded.8
#[test]
fn a_repository_that_somebody_else_makes_is_guarded() {
    let tmp = in_tmp();
    let mark = format!(
        "{}/' + os.path.dirname('@ROOT').replace('/', '_') + '",
        tmp.path().display()
    );
    let makes = MAKES.replace("@MARK", &mark);
    Probe::new()
        .beside(&makes)
        .works(&format!("write('{mark}'); wait_for('@ROOT/finished')"))
        .works("read('repo/.git/config')")
        .attempt("write('repo/.git/hooks/pre-commit', 'ab')")
        .attempt("write('repo/.git/hooks/new')")
        .attempt("write('repo/.git/config', 'ab')")
        .attempt("os.unlink('repo/.git/hooks/pre-commit'); write('repo/.git/hooks/pre-commit')")
        .attempt("os.rename('repo/.git/config', 'repo/c')")
        .attempt("os.rename('repo/.git', 'repo/git')")
        .refused("workspace", "EACCES|EPERM|EXDEV");
}

/// What is open for reading when it becomes a secret stays so; nothing more is opened through it.
#[test]
fn a_descriptor_from_before_opens_nothing_again() {
    let beside = "ready()\nwait_for('@ROOT/go')\nos.rename('@ROOT/now', '@ROOT/now.pem')\n\
                  os.rename('@ROOT/d', '@ROOT/secrets')\nopen('@ROOT/done', 'w').close()\ntime.sleep(60)\n";
    Probe::new()
        .flags(["--trace", "exact"])
        .file("now", "SECRET")
        .file("d/token", "SECRET")
        .file("d/f", "SECRET")
        .beside(beside)
        .attempt(
            "f = os.open('now', 0); p = os.open('d/token', os.O_PATH); d = os.open('d', os.O_PATH)\n\
             os.chdir('d'); write('../go'); wait_for('../done')\n\
             def tried(code):\n  \
               try: exec(code, globals()); return False\n  \
               except OSError as error: return error.errno == errno.EACCES\n\
             closed = [tried(c) for c in [\"os.open('/proc/self/fd/%d' % f, os.O_RDWR)\", \"read('/dev/fd/%d' % p)\",\n\
               \"os.open('token', 0, dir_fd=d)\", \"read('f')\", \"read('/proc/self/cwd/f')\"]]\n\
             if any(closed): raise OSError(errno.EACCES if all(closed) else errno.EBADMSG, '')",
        )
        .refused("workspace", "EACCES");
}
