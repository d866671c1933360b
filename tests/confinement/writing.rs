//! What `readonly` may change: its scratch directory, and nothing of its data.

use std::os::unix::fs::MetadataExt;

use crate::common::{Probe, run};

fn data() -> Probe {
    Probe::new()
        .file("data/a", "a")
        .file("data/b", "b")
        .file("data/c", "c")
        .file("data/d", "d")
        .file("data/sub/e", "e")
}

// promise: files.2
#[test]
fn readonly_writes_and_creates_nothing_in_its_data() {
    data()
        .works("read('data/a')")
        .attempt("write('data/a')")
        .attempt("write('data/a', 'ab')")
        .attempt("write('data/a', 'r+b')")
        .attempt("os.close(os.open('data/a', os.O_RDWR))")
        .attempt("write('data/new')")
        .attempt("write('new')")
        .attempt("write('@HOME/new')")
        .attempt("os.mkdir('data/directory')")
        .attempt("os.symlink('a', 'data/link')")
        .attempt("os.link('data/a', 'data/hard')")
        .attempt("os.mkfifo('data/fifo')")
        .attempt("os.mknod('data/node')")
        .attempt_if_possible("os.close(os.open('data', os.O_TMPFILE | os.O_RDWR))")
        .refused("readonly", "EACCES");
}

// promise: files.3
#[test]
fn readonly_truncates_nothing_in_its_data() {
    data()
        .attempt("os.truncate('data/a', 0)")
        .attempt("os.close(os.open('data/b', os.O_RDONLY | os.O_TRUNC))")
        .attempt("os.close(os.open('data/c', os.O_WRONLY | os.O_TRUNC))")
        .refused("readonly", "EACCES");
}

// promise: files.4
#[test]
fn readonly_removes_and_moves_nothing_of_its_data() {
    let scratch = "s = os.environ.get('TMPDIR', '@HOME')";
    data()
        .file("data/empty/x", "")
        .attempt("os.rename('data/a', 'data/z')")
        .attempt("os.unlink('data/b')")
        .attempt("os.unlink('data/empty/x')")
        .attempt("os.rename('data/sub', 'data/moved')")
        .attempt(&format!("{scratch}; os.link('data/c', s + '/c')"))
        .attempt(&format!("{scratch}; os.rename('data/d', s + '/d')"))
        .attempt(&format!("{scratch}; write(s + '/n'); os.rename(s + '/n', 'data/n')"))
        .answers("os.rmdir('data')", "ENOTEMPTY", "EACCES")
        .refused("readonly", "EACCES|EXDEV");
}

// promise: files.15
#[test]
fn devices_are_never_made() {
    Probe::new()
        .attempt_if_possible("os.mknod(os.environ.get('TMPDIR', '@HOME') + '/null', 0o20666, os.makedev(1, 3))")
        .attempt_if_possible("os.mknod(os.environ.get('TMPDIR', '@HOME') + '/disk', 0o60666, os.makedev(7, 0))")
        .works("os.mkfifo(os.environ.get('TMPDIR', '@HOME') + '/fifo')")
        .refused("readonly", "EPERM");
}

// promise: files.18
#[test]
fn the_scratch_directory_is_home_writable_and_gone_afterwards() {
    let ran = run()
        .profile("readonly")
        .python(
            "import os, tempfile\n\
             home = os.environ['HOME']\n\
             assert home == os.environ['TMPDIR']\n\
             assert os.stat(home).st_mode & 0o777 == 0o700\n\
             os.makedirs(home + '/.cache/deep')\n\
             open(home + '/.cache/deep/file', 'w').write('x')\n\
             assert open(home + '/.cache/deep/file').read() == 'x'\n\
             os.rename(home + '/.cache/deep/file', home + '/moved')\n\
             os.mkdir(home + '/closed', 0)\n\
             with tempfile.TemporaryFile() as file: file.write(b'x')\n\
             print(home)",
        )
        .any_stdout()
        .any_stderr()
        .ends();
    let scratch = ran.stdout();
    let scratch = std::path::Path::new(scratch.trim());
    let shared = std::fs::metadata(scratch.parent().unwrap()).unwrap();
    assert_eq!(
        (shared.mode() & 0o7777, shared.uid()),
        (0o700, nix::unistd::geteuid().as_raw())
    );
    assert!(!scratch.exists(), "{} is left", scratch.display());
    assert_eq!(ran.place.leftovers(), Vec::<std::path::PathBuf>::new());
}

/// The address of a unix socket ends at 108 bytes (unix(7)).
#[test]
fn the_scratch_directory_has_a_short_name_in_a_deep_home() {
    let begun = run()
        .profile("readonly")
        .python("import os; assert len(os.environ['TMPDIR']) < 40, os.environ['TMPDIR']");
    let home = begun.place.home.join("a-long-name/".repeat(10));
    std::fs::create_dir_all(&home).unwrap();
    begun.variable("HOME", home).ends();
}

// promise: files.18
#[test]
fn one_run_cannot_look_into_the_scratch_directory_of_another() {
    let first = run().profile("readonly").bash("echo $HOME; read line");
    let mut process = first.process();
    let mut child = process
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
    let scratch = line.trim();
    Probe::new()
        .attempt(&format!("os.listdir('{scratch}')"))
        .attempt(&format!("write('{scratch}/planted')"))
        .refused("readonly", "EACCES");
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn minimal_has_no_home_at_all() {
    run()
        .python("import os; print(os.path.exists(os.environ['HOME']), os.path.exists(os.environ['TMPDIR']))")
        .stdout("False False\n")
        .ends();
}
