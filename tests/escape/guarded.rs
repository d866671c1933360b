//! What the host later executes or trusts is read and never written: hooks, configuration, start-up files.

use std::fs;
use std::path::Path;

use super::cases::{WRITING, attempts, works};
use crate::common::{Place, Probe, STOCKADE, finish, run};

const REPOSITORY: &[(&str, &str)] = &[
    (".git/HEAD", "ref: refs/heads/main\n"),
    (".git/config", "[core]\n"),
    (".git/hooks/pre-commit", "#!/bin/sh\n"),
    (".git/info/exclude", "x\n"),
    (".git/modules/m/config", "[core]\n"),
    (".git/modules/m/hooks/pre-push", "#!/bin/sh\n"),
    (".git/worktrees/w/commondir", "../..\n"),
    (".git/worktrees/w/gitdir", "/none/.git\n"),
    (".git/objects/x", "x"),
    (".git/refs/heads/main", "x"),
    ("own/post-commit", "#!/bin/sh\nevil\n"),
    ("own/config", "[core]\n"),
    ("plain", "plain"),
];

const REFUSED: &str = "EACCES|EPERM|EXDEV";

fn refused(forms: &[&str]) {
    for profile in WRITING {
        let probe = works(
            Probe::new(),
            REPOSITORY,
            &["read('@DIR/.git/config'); read('@DIR/.git/hooks/pre-commit'); write('@DIR/own/post-commit')"],
        );
        attempts(probe, REPOSITORY, forms)
            .in_trees_of_their_own()
            .refused(profile, REFUSED);
    }
}

// promise: guarded.2
#[test]
fn a_hook_is_not_opened_to_write() {
    refused(&[
        "write('@DIR/.git/hooks/pre-commit')",
        "write('@DIR/.git/hooks/pre-commit', 'ab')",
        "write('@DIR/.git/hooks/pre-commit', 'r+b')",
        "os.open('@DIR/.git/hooks/pre-commit', os.O_RDONLY | os.O_TRUNC)",
        "call(2, '@DIR/.git/hooks/pre-commit', os.O_WRONLY | 1 << 40) # upper half",
        "call(85, '@DIR/.git/hooks/pre-commit', 0o700) # creat",
        "openat2('@DIR/.git/hooks/pre-commit', flags=os.O_RDWR)",
        "os.truncate('@DIR/.git/hooks/pre-commit', 0)",
        "os.chdir('@DIR/.git/hooks'); write('pre-commit')",
        "os.open('pre-commit', os.O_WRONLY, dir_fd=os.open('@DIR/.git/hooks', os.O_RDONLY))",
        "os.symlink('.git/hooks', '@DIR/h'); write('@DIR/h/pre-commit')",
        "os.symlink('.git/hooks/pre-commit', '@DIR/h'); write('@DIR/h')",
        "os.symlink('.git', '@DIR/not-git'); write('@DIR/not-git/hooks/pre-commit')",
        "write('/proc/self/root@DIR/.git/hooks/pre-commit')",
        "write('@DIR/.git/objects/../hooks/pre-commit')",
        "write('@DIR/.git//hooks/./pre-commit')",
    ]);
}

// promise: files.10
#[test]
fn a_descriptor_that_reads_a_hook_is_not_reopened_to_write() {
    refused(&[
        "f = os.open('@DIR/.git/hooks/pre-commit', 0); os.open('/proc/self/fd/%d' % f, os.O_WRONLY)",
        "f = os.open('@DIR/.git/hooks/pre-commit', 0); os.open('/dev/fd/%d' % f, os.O_RDWR)",
        "f = os.open('@DIR/.git/hooks/pre-commit', 0); os.open('/proc/self/fd/%d' % f, os.O_TRUNC)",
        "f = os.open('@DIR/.git/hooks/pre-commit', 0); os.truncate('/proc/self/fd/%d' % f, 0)",
        "f = os.open('@DIR/.git/hooks/pre-commit', os.O_PATH); os.open('/proc/self/fd/%d' % f, os.O_WRONLY)",
        "f = os.open('@DIR/.git/hooks/pre-commit', 0); os.dup2(f, 0); os.open('/dev/stdin', os.O_WRONLY)",
        "f = os.open('@DIR/.git/hooks/pre-commit', 0); \
         os.open('/proc/thread-self/fd/%d' % f, os.O_WRONLY | os.O_APPEND)",
        "f = os.open('@DIR/.git/hooks/pre-commit', 0); os.symlink('/proc/self/fd/%d' % f, '@DIR/l'); write('@DIR/l')",
    ]);
}

// promise: guarded.2
#[test]
fn a_hook_is_not_made() {
    refused(&[
        "write('@DIR/.git/hooks/post-commit')",
        "os.open('@DIR/.git/hooks/new', os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o700)",
        "os.mknod('@DIR/.git/hooks/new')",
        "call(133, '@DIR/.git/hooks/new', 0o100700, 0) # mknod",
        "os.mkfifo('@DIR/.git/hooks/new')",
        "os.mkdir('@DIR/.git/hooks/new')",
        "call(258, os.open('@DIR/.git/hooks', os.O_PATH), 'new', 0o700) # mkdirat",
        "os.symlink('../../own/post-commit', '@DIR/.git/hooks/post-commit')",
        "call(266, 'x', os.open('@DIR/.git/hooks', os.O_PATH), 'post-commit') # symlinkat",
        "os.link('@DIR/own/post-commit', '@DIR/.git/hooks/post-commit')",
        "call(86, '@DIR/own/post-commit', '@DIR/.git/hooks/post-commit') # link",
        "os.rename('@DIR/own/post-commit', '@DIR/.git/hooks/post-commit')",
        "os.replace('@DIR/own/post-commit', '@DIR/.git/hooks/pre-commit')",
        "renameat2('@DIR/own/post-commit', '@DIR/.git/hooks/pre-commit', 2) # EXCHANGE",
        "renameat2('@DIR/.git/hooks/pre-commit', '@DIR/own/post-commit', 2) # EXCHANGE",
        "f = os.open('@DIR', os.O_TMPFILE | os.O_RDWR, 0o700); \
         call(265, AT_FDCWD, '/proc/self/fd/%d' % f, AT_FDCWD, '@DIR/.git/hooks/post-commit', 0x400)",
        "? f = os.open('@DIR', os.O_TMPFILE | os.O_RDWR); call(265, f, '', AT_FDCWD, '@DIR/.git/hooks/x', 0x1000)",
        "os.open('@DIR/.git/hooks', os.O_TMPFILE | os.O_RDWR)",
        "socket.socket(socket.AF_UNIX).bind('@DIR/.git/hooks/post-commit')",
        "os.symlink('.git/hooks/through', '@DIR/l'); write('@DIR/l')",
    ]);
}

// promise: guarded.2
#[test]
fn hooks_are_not_removed_or_taken_away() {
    refused(&[
        "os.unlink('@DIR/.git/hooks/pre-commit')",
        "call(263, os.open('@DIR/.git/hooks', os.O_PATH), 'pre-commit', 0) # unlinkat",
        "os.rename('@DIR/.git/hooks/pre-commit', '@DIR/x')",
        "os.rename('@DIR/.git/hooks', '@DIR/x')",
        "os.rename('@DIR/.git/hooks', '@DIR/.git/x'); os.rename('@DIR/own', '@DIR/.git/hooks')",
        "renameat2('@DIR/.git/hooks', '@DIR/own', 2) # EXCHANGE",
        "renameat2('@DIR/own', '@DIR/.git/hooks', 2) # EXCHANGE",
        "import shutil; shutil.rmtree('@DIR/.git/hooks')",
        "os.link('@DIR/.git/hooks/pre-commit', '@DIR/h'); write('@DIR/h')",
        "os.rename('@DIR/.git', '@DIR/git'); write('@DIR/git/hooks/pre-commit')",
        "renameat2('@DIR/.git', '@DIR/own', 2); write('@DIR/own/hooks/pre-commit') # EXCHANGE",
        "os.makedirs('@DIR/n/.git/hooks'); write('@DIR/n/.git/hooks/x'); renameat2('@DIR/n/.git', '@DIR/.git', 2)",
    ]);
}

// promise: guarded.4
#[test]
fn moving_the_repository_frees_nothing() {
    refused(&[
        "os.rename('@DIR', '@DIR.moved'); write('@DIR.moved/.git/hooks/pre-commit')",
        "os.mkdir('@DIR.d'); os.rename('@DIR', '@DIR.d/r'); write('@DIR.d/r/.git/config')",
        "os.makedirs('@DIR.o/.git/hooks'); renameat2('@DIR', '@DIR.o', 2); write('@DIR.o/.git/hooks/pre-commit')",
        "os.makedirs('@DIR.o/.git/hooks'); renameat2('@DIR', '@DIR.o', 2); write('@DIR.o/.git/hooks/new')",
        "os.chdir('@DIR/.git'); os.rename('@DIR', '@DIR.moved'); write('config')",
        "d = os.open('@DIR/.git/hooks', os.O_PATH); os.rename('@DIR', '@DIR.moved'); \
         os.open('pre-commit', os.O_WRONLY, dir_fd=d)",
    ]);
}

// promise: guarded.3
#[test]
fn configuration_of_a_repository_is_not_changed() {
    refused(&[
        "write('@DIR/.git/config', 'ab')",
        "os.truncate('@DIR/.git/config', 0)",
        "os.unlink('@DIR/.git/config')",
        "os.rename('@DIR/own/config', '@DIR/.git/config')",
        "os.link('@DIR/.git/config', '@DIR/c'); write('@DIR/c')",
        "write('@DIR/.git/config.worktree')",
        "write('@DIR/.git/commondir')",
        "write('@DIR/.git/info/attributes')",
        "write('@DIR/.git/modules/m/config')",
        "write('@DIR/.git/modules/m/hooks/pre-push')",
        "write('@DIR/.git/modules/m/hooks/new')",
        "write('@DIR/.git/worktrees/w/config.worktree')",
        "write('@DIR/.git/worktrees/w/commondir')",
        "os.rename('@DIR/.git/worktrees/w', '@DIR/w'); write('@DIR/w/commondir')",
    ]);
}

/// Makes the lock as git does, with this text, and goes on with its descriptor `f`.
fn locking(text: &str, then: &str) -> String {
    format!(
        "l, c = '@DIR/.git/config.lock', '@DIR/.git/config'\nf = os.open(l, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)\n\
         os.write(f, b'''{text}''')\n{then}"
    )
}

const HARMLESS: &str = "[core]\n[remote \"o\"]\n\turl = https://example.com/o\n";

#[test]
fn a_lock_becomes_a_configuration_only_where_the_change_is_harmless() {
    let harmful = [
        "[core]\n\tsshCommand = x\n",
        "[core]\n\tfsmonitor = x\n[remote \"o\"]\n\turl = https://example.com/o\n",
        "[core]\n[remote \"o\"]\n\turl = ext::sh -c x\n",
        "[core]\n[remote \"o\"]\n\turl = https://example.com/o\n\tuploadpack = x\n",
        "[core]\n[include]\n\tpath = own/config\n",
        "[core]\n[alias]\n\tst = !x\n",
        "",
    ];
    let mut forms: Vec<String> = harmful.iter().map(|text| locking(text, "os.rename(l, c)")).collect();
    let by_others = [
        "os.link('@DIR/own/config', '@DIR/.git/config.lock'); os.rename('@DIR/.git/config.lock', '@DIR/.git/config')",
        "os.symlink('../own/config', '@DIR/.git/config.lock'); os.rename('@DIR/.git/config.lock', '@DIR/.git/config')",
        "os.rename('@DIR/own/config', '@DIR/.git/config.lock'); os.rename('@DIR/.git/config.lock', '@DIR/.git/config')",
        "os.mkdir('@DIR/.git/config.lock')",
        "write('@DIR/.git/modules/m/config.lock')",
        "write('@DIR/.git/hooks/config.lock')",
    ];
    forms.extend(by_others.map(str::to_string));
    forms.extend([
        locking(HARMLESS, "renameat2(l, c, 2) # EXCHANGE"),
        locking(HARMLESS, "os.link(l, c + '.x'); os.rename(l, c)"),
        locking(HARMLESS, "os.rename(l, '@DIR/.git/modules/m/config')"),
        locking(
            HARMLESS,
            "os.unlink(c); os.symlink('../own/config', c); os.rename(l, c)",
        ),
    ]);
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    refused(&forms);
}

#[test]
fn a_lock_of_others_is_neither_written_nor_taken() {
    let lock = [(".git/config.lock", HARMLESS)];
    let files: Vec<(&str, &str)> = lock.into_iter().chain(REPOSITORY.iter().copied()).collect();
    let forms = [
        "write('@DIR/.git/config.lock')",
        "write('@DIR/.git/config.lock', 'ab')",
        "os.open('@DIR/.git/config.lock', os.O_CREAT | os.O_WRONLY)",
        "os.truncate('@DIR/.git/config.lock', 0)",
        "os.chmod('@DIR/.git/config.lock', 0o666)",
        "os.unlink('@DIR/.git/config.lock')",
        "os.rename('@DIR/.git/config.lock', '@DIR/.git/config')",
        "os.rename('@DIR/.git/config.lock', '@DIR/x')",
        "write('@DIR/x'); os.rename('@DIR/x', '@DIR/.git/config.lock')",
        "os.link('@DIR/.git/config.lock', '@DIR/x'); write('@DIR/x')",
    ];
    for profile in WRITING {
        attempts(Probe::new(), &files, &forms)
            .in_trees_of_their_own()
            .refused(profile, REFUSED);
    }
}

#[test]
fn a_lock_ends_with_the_run_that_made_it() {
    let repository = run()
        .profile("workspace")
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".git/config", "[core]\n");
    let ran = repository
        .bash(": >.git/config.lock && test -e .git/config.lock")
        .ends();
    assert!(!ran.place.path(".git/config.lock").exists());
}

/// What was checked is what is written: nothing of the run holds the new file open, or has its lock.
// promise: guarded.3
#[test]
fn a_configuration_is_not_changed_behind_its_check() {
    let after = "os.rename(l, c)\nexpect(not os.path.lexists(l) and b'example.com/o' in open(c, 'rb').read())\n";
    let evil = "try: os.write(f, b'[core]\\n\\tsshCommand = x\\n')\nexcept OSError: pass\n";
    let by_name = "try: write('/proc/self/fd/%d' % f, 'ab')\nexcept OSError: pass\n";
    let is_evil = "expect(b'ssh' in open(c, 'rb').read() or open(c, 'rb').read()[-1:] == b'x')";
    let racing = "import threading\n\
        def spoil():\n  \
          for _ in range(20000): os.pwrite(f, b'[core]\\n\\tsshCommand = x\\n', 0); os.pwrite(f, b'[core]\\n[remote \"o', 0)\n\
        t = threading.Thread(target=spoil); t.start()\n\
        try: os.rename(l, c)\nexcept OSError: pass\n\
        t.join()\nos.pwrite(f, b'[core]\\n\\tsshCommand = x\\n', 0)\n";
    for profile in WRITING {
        let probe = works(Probe::new(), REPOSITORY, &[&locking(HARMLESS, after)]);
        let forms = [
            locking(HARMLESS, &format!("{after}{evil}{is_evil}")),
            locking(HARMLESS, &format!("{after}{by_name}{is_evil}")),
            locking(HARMLESS, &format!("{racing}{is_evil}")),
        ];
        let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
        attempts(probe, REPOSITORY, &forms).refused(profile, "EBADMSG");
    }
}

#[test]
fn git_writes_what_a_commit_writes() {
    for profile in WRITING {
        let forms = [
            "open('@DIR/.git/HEAD.lock', 'w').write('ref: refs/heads/x\\n'); os.rename('@DIR/.git/HEAD.lock', '@DIR/.git/HEAD')",
            "os.mkdir('@DIR/.git/objects/ab'); write('@DIR/.git/objects/ab/tmp'); \
             os.link('@DIR/.git/objects/ab/tmp', '@DIR/.git/objects/ab/cd'); os.unlink('@DIR/.git/objects/ab/tmp')",
            "write('@DIR/.git/refs/heads/main.lock'); \
             os.rename('@DIR/.git/refs/heads/main.lock', '@DIR/.git/refs/heads/main')",
            "os.mkdir('@DIR/.git/logs'); write('@DIR/.git/logs/HEAD', 'ab')",
            "write('@DIR/.git/COMMIT_EDITMSG'); write('@DIR/.git/ORIG_HEAD')",
            "write('@DIR/.git/packed-refs.lock'); os.rename('@DIR/.git/packed-refs.lock', '@DIR/.git/packed-refs')",
            // A repository of the run's own.
            "os.makedirs('@DIR/new/.git/hooks'); write('@DIR/new/.git/config'); write('@DIR/new/.git/hooks/x')",
        ];
        works(Probe::new(), REPOSITORY, &forms).refused(profile, "ok");
    }
}

/// An index without entries, and how git makes one of one entry.
const EMPTY_INDEX: &str = "DIRC\0\0\0\u{2}\0\0\0\0....................";
const NEW_INDEX: &str = "l, n = '@DIR/.git/index.lock', '@DIR/.git/index'\n\
    def index(mode, path=b'sub'):\n  \
      entry = b'i' * 24 + mode.to_bytes(4, 'big') + b'i' * 12 + b'o' * 20 + bytes([0, 3]) + path + bytes(7)\n  \
      return b'DIRC' + bytes([0, 0, 0, 2, 0, 0, 0, 1]) + entry + b'.' * 20\n\
    def put(data, to=l):\n  \
      with open(to, 'wb') as file: file.write(data)\n  \
      os.chmod(to, 0o640); os.utime(to, (5, 5)); os.rename(to, n)\n";

fn with_index() -> Vec<(&'static str, &'static str)> {
    let index = [
        (".git/index", EMPTY_INDEX),
        (".git/sharedindex.x", EMPTY_INDEX),
        (".git/worktrees/w/index", EMPTY_INDEX),
        // It would be the repository of a submodule.
        ("sub/.git/config", "[core]\n"),
        ("mod/.git", "gitdir: ../.git/modules/m\n"),
        ("wt/.git", "gitdir: ../.git/worktrees/w\n"),
        ("far/.git/HEAD", "ref: refs/heads/main\n"),
        ("far/.git/config", "[core]\n\tworktree = ../..\n"),
    ];
    REPOSITORY.iter().copied().chain(index).collect()
}

/// From the top git goes into what an index calls a submodule, and starts what is configured there.
// promise: guarded.6
#[test]
fn an_index_leads_git_to_no_new_submodule() {
    let form = |code: &str| format!("{NEW_INDEX}{code}");
    let fine = [
        "put(index(0o100644)); expect(open(n, 'rb').read() == index(0o100644) and not os.path.exists(l))",
        "put(index(0o120000)); put(index(0o100755)); expect(os.stat(n).st_mode & 0o777 == 0o640 and os.stat(n).st_mtime == 5)",
        "os.utime(n); os.utime('@DIR/.git/sharedindex.x'); os.utime('@DIR/.git/HEAD'); os.chmod(n, 0o644)",
        "put(index(0o160000, b'mod')); put(index(0o160000, b'new'))",
        "os.mkdir('@DIR/new'); os.mkdir('@DIR/new/.git'); n = '@DIR/new/.git/index'; put(index(0o160000), '@DIR/new/.git/l'); write(n)",
        "expect(os.listdir('@DIR/.git') == [name for name in os.listdir('@DIR/.git') if not name.startswith('stockade')])",
    ];
    let refused = [
        "put(index(0o160000))",
        "put(index(0o160755))",
        "put(index(0o040000))",
        "put(index(0o100644) + index(0o160000))",
        "put(b'no index')",
        "n = '@DIR/.git/sharedindex.x'; put(index(0o160000))",
        "n = '@DIR/.git/sharedindex.new'; put(index(0o160000))",
        "write('@DIR/.git/sharedindex.x')",
        "write('@DIR/.git/sharedindex.new')",
        "n = '@DIR/.git/worktrees/w/index'; put(index(0o040000), '@DIR/.git/worktrees/w/index.lock')",
        "n = '@DIR/.git/worktrees/w/index'; put(index(0o160000, b'new'), '@DIR/.git/worktrees/w/index.lock')",
        "n = '@DIR/far/.git/index'; put(index(0o160000, b'new'), '@DIR/far/.git/index.lock')",
        "write('@DIR/.git/worktrees/w/index')",
        // The `.git` of a submodule that the run may write, or may have written elsewhere.
        "os.mkdir('@DIR/own/d'); open('@DIR/own/d/.git', 'w').write('gitdir: ../../.git/modules/m'); os.rename('@DIR/own/d', '@DIR/new'); \
         put(index(0o160000, b'new'))",
        "os.mkdir('@DIR/new'); open('@DIR/f', 'w').write('gitdir: ../.git/modules/m'); os.link('@DIR/f', '@DIR/new/.git'); \
         put(index(0o160000, b'new'))",
        "os.mkdir('@DIR/.git/modules/m/refs'); os.mkdir('@DIR/.git/modules/m/refs/e'); os.mkdir('@DIR/new'); \
         open('@DIR/new/.git', 'w').write('gitdir: ../.git/modules/m/refs/e'); put(index(0o160000, b'new'))",
        "put(index(0o160000), '@DIR/.git/tmp_x')",
        "write(n)",
        "write(n, 'ab')",
        "write(n, 'r+b')",
        "os.truncate(n, 0)",
        "os.open(n, os.O_RDONLY | os.O_TRUNC)",
        "os.unlink(n)",
        "os.chmod(n, 0o244)",
        "os.rename(n, '@DIR/x')",
        "os.rename(n, '@DIR/.git/index.lock')",
        "n = '@DIR/.git/worktrees/w/index'; os.unlink(n); write(n)",
        "n = '@DIR/.git/worktrees/w/index'; os.unlink(n); os.symlink('../../../plain', n)",
        "n = '@DIR/.git/worktrees/w/index'; os.unlink(n); write(l); os.link(l, n)",
        "n = '@DIR/.git/worktrees/w/index'; os.unlink(n); os.mkdir('@DIR/wt/new'); os.mkdir('@DIR/wt/new/.git')",
        "os.chmod('@DIR/.git/worktrees/w', 0); os.mkdir('@DIR/wt/new'); write('@DIR/wt/new/.git')",
        "os.symlink('../plain', l); os.rename(l, n)",
        "n = '@DIR/.git/worktrees/w/index'; os.mkdir(l); os.unlink(n); os.rename(l, n)",
        "os.link(n, '@DIR/.git/tmp_x'); write('@DIR/.git/tmp_x')",
        "write(l); renameat2(l, n, 2)",
        "write(l); renameat2(n, l, 2)",
        "n = '@DIR/.git/worktrees/w/index'; os.unlink(n); write(l); renameat2(l, n, 1)",
    ];
    let behind = "f = os.open(l, os.O_CREAT | os.O_RDWR); os.write(f, index(0o100644)); os.rename(l, n)\n\
                  os.pwrite(f, index(0o160000), 0); expect(open(n, 'rb').read() == index(0o160000))";
    let fine: Vec<String> = fine.iter().map(|code| form(code)).collect();
    let refused: Vec<String> = refused.iter().map(|code| form(code)).collect();
    for profile in WRITING {
        let fine: Vec<&str> = fine.iter().map(String::as_str).collect();
        works(Probe::new(), &with_index(), &fine).refused(profile, "ok");
        let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
        attempts(Probe::new(), &with_index(), &refused)
            .in_trees_of_their_own()
            .refused(profile, REFUSED);
        attempts(Probe::new(), &with_index(), &[&form(behind)]).refused(profile, "EBADMSG");
    }
}

/// A place that an index has as a submodule gets no repository, however one would come there.
// promise: guarded.6
#[test]
fn no_repository_comes_to_be_where_an_index_has_a_submodule() {
    let made = |code: &str| {
        format!(
            "{NEW_INDEX}os.makedirs('@DIR/own/a/b/sub/.git'); os.makedirs('@DIR/place'); os.makedirs('@DIR/own/a/b/plain')\n\
             i = index(0o160000).replace(b'sub' + bytes(7), b'a/b/sub' + bytes(3)).replace(bytes([0, 3]) + b'a', bytes([0, 7]) + b'a')\n\
             put(i); expect(open(n, 'rb').read() == i)\n{code}"
        )
    };
    let fine = [
        "os.makedirs('@DIR/a/b/sub/not-git'); os.makedirs('@DIR/a/b/other/.git')",
        "os.rename('@DIR/own/a/b/plain', '@DIR/place/sub'); os.rename('@DIR/own/a/b/sub', '@DIR/place/own')",
        "put(index(0o100644)); os.rename('@DIR/own/a', '@DIR/a')",
        "put(index(0o100644, b'd/f')); os.makedirs('@DIR/own/d/e/.git'); os.rename('@DIR/own/d', '@DIR/d')",
    ];
    let refused = [
        "os.makedirs('@DIR/a/b/sub/.git')",
        "os.makedirs('@DIR/a/b/sub'); write('@DIR/a/b/sub/.git')",
        "os.makedirs('@DIR/a/b/sub'); os.symlink('../../../own/a/b/sub/.git', '@DIR/a/b/sub/.git')",
        "os.makedirs('@DIR/a/b/sub'); os.rename('@DIR/own/a/b/sub/.git', '@DIR/a/b/sub/.git')",
        "os.makedirs('@DIR/a/b'); os.rename('@DIR/own/a/b/sub', '@DIR/a/b/sub')",
        "os.makedirs('@DIR/a'); os.rename('@DIR/own/a/b', '@DIR/a/b')",
        "os.rename('@DIR/own/a', '@DIR/a')",
        "os.chmod('@DIR/own/a/b/sub', 0); os.rename('@DIR/own/a', '@DIR/a')",
        "p = 'x' * 200; os.chdir('@DIR/own')\nwhile len(os.getcwd()) < 3800: os.mkdir(p); os.chdir(p)\n\
         p = 'x' * (4090 - len(os.getcwd())); os.rename('@DIR/own/a', p); os.rename(p, '@DIR/a')",
        "renameat2('@DIR/own/a', '@DIR/place', 2); os.rename('@DIR/place', '@DIR/a')",
        "os.mkdir('@DIR/a'); renameat2('@DIR/own/a', '@DIR/a', 2)",
        "os.mkdir('@DIR/a'); renameat2('@DIR/a', '@DIR/own/a', 2)",
        // A directory that the index has, in another place for now.
        "put(index(0o100644, b'd/f')); os.makedirs('@DIR/own/d/.git'); os.rename('@DIR/own/d', '@DIR/d')",
    ];
    // What it has in another file may change without it.
    let split = "h = 20 * b'h'; s = '@DIR/.git/sharedindex.' + h.hex(); empty = b'DIRC' + bytes([0, 0, 0, 2, 0, 0, 0, 0])\n\
                 n = s; put(empty + 20 * b'.'); n = '@DIR/.git/index'\n\
                 put(empty + b'link' + bytes([0, 0, 0, 20]) + h + 20 * b'.')\n\
                 os.makedirs('@DIR/late/er'); os.mkdir('@DIR/late/er/.git')\n\
                 n = s; put(index(0o160000)); os.mkdir('@DIR/sub'); os.mkdir('@DIR/sub/.git')";
    let fine = fine.map(made);
    let mut refused = refused.map(made).to_vec();
    refused.push(format!("{NEW_INDEX}os.rename('@DIR/sub', '@DIR/away')\n{split}"));
    for profile in WRITING {
        let fine: Vec<&str> = fine.iter().map(String::as_str).collect();
        works(Probe::new(), &with_index(), &fine).refused(profile, "ok");
        let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
        attempts(Probe::new(), &with_index(), &refused)
            .in_trees_of_their_own()
            .refused(profile, REFUSED);
    }
}

/// Git appends to what is there, and follows links: in a reflog to the user's start-up file, say.
#[test]
fn no_link_comes_to_be_in_a_git_directory() {
    refused(&[
        "os.symlink('@DIR/plain', '@DIR/.git/refs/heads/y')",
        "os.mkdir('@DIR/.git/logs'); os.symlink('@DIR/plain', '@DIR/.git/logs/HEAD')",
        "os.makedirs('@DIR/.git/logs/refs/heads/n'); os.symlink('@DIR/plain', '@DIR/.git/logs/refs/heads/n/y')",
        "os.mkdir('@DIR/.git/lfs'); os.symlink('@DIR/plain', '@DIR/l'); os.rename('@DIR/l', '@DIR/.git/lfs/l')",
        "os.mkdir('@DIR/.git/lfs'); os.mkdir('@DIR/d'); os.symlink('@DIR/plain', '@DIR/d/l'); \
         os.rename('@DIR/d', '@DIR/.git/lfs/d')",
        "os.mkdir('@DIR/.git/gitweb') # git-instaweb(1) executes what is there",
    ]);
}

/// In a directory of the run's own no name is guarded, so what was made there doesn't come to be beside the user's files.
// promise: guarded.11
#[test]
fn a_directory_of_settings_is_not_moved_out_of_one_of_the_runs() {
    let files = [REPOSITORY, &[("sub/x", "x")]].concat();
    let forms: Vec<String> = [
        (".hg", "hgrc"),
        (".jj", "workspace-config.toml"),
        (".sl", "config"),
        (".bzr", "branch/branch.conf"),
        (".github", "hooks/x"),
        (".config", "mise/config.toml"),
    ]
    .iter()
    .flat_map(|(name, file)| {
        let made = format!("os.makedirs('@DIR/n/{name}/x'); os.makedirs(os.path.dirname('@DIR/n/{name}/{file}'), exist_ok=True); write('@DIR/n/{name}/{file}'); ");
        [
            format!("{made}os.rename('@DIR/n/{name}', '@DIR/{name}')"),
            format!("{made}os.rename('@DIR/n/{name}', '@DIR/sub/{name}')"),
            format!("{made}os.symlink('@DIR/n/{name}', '@DIR/sub/{name}')"),
        ]
    })
    .filter(|form| !form.contains("sub/.github") && !form.contains("sub/.config"))
    .collect();
    for profile in WRITING {
        let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
        attempts(Probe::new(), &files, &forms)
            .in_trees_of_their_own()
            .refused(profile, REFUSED);
    }
}

/// Without a `HEAD` that it understands, or `refs`, git takes the work tree or a directory above for the repository.
#[test]
fn a_repository_stays_one_to_git() {
    let files = REPOSITORY;
    let put = |text: &str| {
        format!(
            "l, h = '@DIR/.git/HEAD.lock', '@DIR/.git/HEAD'\nwith open(l, 'wb') as file: file.write({text})\n\
             os.rename(l, h); expect(open(h, 'rb').read() == {text})"
        )
    };
    let fine = [
        "b'ref: refs/heads/x/y\\n'",
        "b'0123456789' * 4",
        "b'01234567' * 8 + b'\\n'",
    ]
    .map(put);
    let mut refused: Vec<String> = [
        "b'x'",
        "b''",
        "b'ref: heads/x'",
        "b'ref: ../x'",
        "b'ref: refs/heads/../../hooks/pre-commit'",
        "b'ref: refs/heads/.x'",
        "b'ref: refs/heads//x'",
        "b'ref: refs/heads/x.lock'",
        "b'g' * 40",
        "b'0' * 39",
    ]
    .map(put)
    .to_vec();
    let others = [
        "write('@DIR/.git/HEAD')",
        "write('@DIR/.git/HEAD', 'ab')",
        "os.truncate('@DIR/.git/HEAD', 0)",
        "os.chmod('@DIR/.git/HEAD', 0)",
        "os.unlink('@DIR/.git/HEAD')",
        "os.rename('@DIR/.git/HEAD', '@DIR/.git/ORIG_HEAD')",
        "os.rename('@DIR/.git/HEAD', '@DIR/x')",
        "write('@DIR/.git/HEAD.lock'); renameat2('@DIR/.git/HEAD.lock', '@DIR/.git/HEAD', 2)",
        "os.symlink('refs/heads/x', '@DIR/.git/HEAD.lock'); os.rename('@DIR/.git/HEAD.lock', '@DIR/.git/HEAD')",
        "os.link('@DIR/.git/HEAD', '@DIR/.git/tmp_x'); write('@DIR/.git/tmp_x')",
        "os.rename('@DIR/.git/refs', '@DIR/.git/logs')",
        "os.rename('@DIR/.git/refs', '@DIR/x')",
        "os.chmod('@DIR/.git/refs', 0)",
        "os.unlink('@DIR/.git/refs/heads/main'); os.rmdir('@DIR/.git/refs/heads'); os.rmdir('@DIR/.git/refs')",
        "os.mkdir('@DIR/d'); renameat2('@DIR/d', '@DIR/.git/refs', 2)",
        "os.chmod('@DIR/.git', 0)",
        "os.chmod('@DIR/.git/objects', 0)",
    ];
    refused.extend(others.map(str::to_string));
    for profile in WRITING {
        let fine: Vec<&str> = fine.iter().map(String::as_str).collect();
        works(Probe::new(), files, &fine).refused(profile, "ok");
        let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
        attempts(Probe::new(), files, &refused)
            .in_trees_of_their_own()
            .refused(profile, REFUSED);
    }
}

// promise: guarded.7
#[test]
fn a_gitdir_file_is_not_replaced() {
    let files: &[(&str, &str)] = &[
        ("sub/.git", "gitdir: ../.git/modules/sub\n"),
        ("evil/config", "[core]\n"),
        ("other", "gitdir: ../evil\n"),
    ];
    // Not the top of what the run was given.
    for profile in WRITING {
        let probe = works(Probe::new(), files, &["read('@DIR/sub/.git'); write('@DIR/other')"]);
        attempts(
            probe,
            files,
            &[
                "write('@DIR/sub/.git')",
                "os.truncate('@DIR/sub/.git', 0)",
                "os.unlink('@DIR/sub/.git'); write('@DIR/sub/.git')",
                "os.unlink('@DIR/sub/.git'); os.mkdir('@DIR/sub/.git')",
                "os.unlink('@DIR/sub/.git'); os.rename('@DIR/other', '@DIR/sub/.git')",
                "write('@DIR/sub/HEAD')",
                "os.rename('@DIR/other', '@DIR/sub/.git')",
                "renameat2('@DIR/other', '@DIR/sub/.git', 2)",
                "os.rename('@DIR/sub/.git', '@DIR/sub/git')",
                "os.link('@DIR/sub/.git', '@DIR/sub/g'); write('@DIR/sub/g')",
            ],
        )
        .refused(profile, REFUSED);
    }
}

// promise: guarded.1
#[test]
fn files_that_tools_trust_are_neither_changed_nor_made() {
    let files: &[(&str, &str)] = &[
        (".envrc", "x"),
        (".vscode/tasks.json", "{}"),
        (".claude/settings.json", "{}"),
        (".mcp.json", "{}"),
        ("plain", "p"),
        ("empty/x", ""),
        // Only there tools look for some of them.
        ("empty/.hg/x", ""),
    ];
    let mut forms: Vec<String> = vec![
        "os.mkdir('@DIR/empty/.vscode'); os.rename('@DIR/plain', '@DIR/empty/.vscode/x')".into(),
        "os.mkdir('@DIR/empty/d'); os.mkdir('@DIR/empty/.claude'); os.rename('@DIR/empty/d', '@DIR/empty/.claude')".into(),
        "os.mkdir('@DIR/empty/.claude'); os.mkdir('@DIR/empty/.claude/hooks')".into(),
        "os.mkdir('@DIR/empty/.claude'); os.symlink('..', '@DIR/empty/.claude/hooks')".into(),
        "os.mkdir('@DIR/empty/.claude'); os.rename('@DIR/empty/.claude', '@DIR/empty/y'); os.rename('@DIR/empty/y', '@DIR/empty/.claude')".into(),
        "os.makedirs('@DIR/empty/.vscode'); write('@DIR/empty/.vscode/tasks.json')".into(),
        "os.symlink('../empty', '@DIR/empty/.claude')".into(),
        "os.rename('@DIR/empty', '@DIR/.vscode/e')".into(),
        "os.rename('@DIR/.vscode', '@DIR/vscode')".into(),
        "renameat2('@DIR/.claude', '@DIR/empty', 2)".into(),
    ];
    for name in [".envrc", ".vscode/tasks.json", ".claude/settings.json", ".mcp.json"] {
        forms.push(format!("write('@DIR/{name}', 'ab')"));
        forms.push(format!("os.unlink('@DIR/{name}')"));
        forms.push(format!("os.rename('@DIR/plain', '@DIR/{name}')"));
        forms.push(format!("os.rename('@DIR/{name}', '@DIR/gone')"));
        forms.push(format!("os.truncate('@DIR/{name}', 0)"));
        forms.push(format!("os.link('@DIR/{name}', '@DIR/h'); write('@DIR/h')"));
    }
    for name in [".envrc", ".vscode", ".claude", ".mcp.json"] {
        forms.push(format!("os.rename('@DIR/plain', '@DIR/empty/{name}')"));
        forms.push(format!("os.symlink('x', '@DIR/empty/{name}')"));
        forms.push(format!("write('@DIR/empty/{name}')"));
    }
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    for profile in WRITING {
        let probe = works(
            Probe::new(),
            files,
            &["read('@DIR/.mcp.json'); read('@DIR/.vscode/tasks.json')"],
        );
        attempts(probe, files, &forms)
            .in_trees_of_their_own()
            .refused(profile, REFUSED);
    }
}

/// Names that are guarded anywhere are the run's own in a directory that it made, as what it clones or unpacks has them.
/// None comes out of there, and no other directory counts for one.
// promise: guarded.11
#[test]
fn what_a_run_made_frees_no_guarded_file_beside_it() {
    let files: &[(&str, &str)] = &[
        ("user/.vscode/tasks.json", "{}"),
        ("user/.hg/x", ""),
        ("user/sub/x", ""),
        ("user/sub/.hg/x", ""),
        ("empty", ""),
    ];
    let own = "os.mkdir('@DIR/new'); os.mkdir('@DIR/new/.vscode'); write('@DIR/new/.vscode/tasks.json'); \
               write('@DIR/new/.mcp.json')";
    let made = |attempt: &str| format!("{own}; {attempt}");
    let forms = [
        made("os.rename('@DIR/new/.vscode', '@DIR/.vscode')"),
        made("os.rename('@DIR/new/.vscode', '@DIR/user/sub/.vscode')"),
        made("os.rename('@DIR/new/.mcp.json', '@DIR/user/.mcp.json')"),
        made("os.link('@DIR/new/.mcp.json', '@DIR/.mcp.json')"),
        made("os.symlink('new/.vscode', '@DIR/.vscode')"),
        made("os.rename('@DIR/new', '@DIR/.vscode')"),
        made("renameat2('@DIR/new/.vscode', '@DIR/user/.vscode', 2) # EXCHANGE"),
        made("renameat2('@DIR/new', '@DIR/user', 2); write('@DIR/new/.vscode/tasks.json') # EXCHANGE"),
        made("os.rename('@DIR/user', '@DIR/new/user'); write('@DIR/new/user/.vscode/tasks.json')"),
        made("os.rename('@DIR/user/.vscode', '@DIR/new/settings')"),
        made("os.rename('@DIR/user/.vscode', '@DIR/new/.claude')"),
        made("os.link('@DIR/user/.vscode/tasks.json', '@DIR/new/t'); write('@DIR/new/t')"),
        made("os.symlink('../user', '@DIR/new/u'); write('@DIR/new/u/.vscode/tasks.json')"),
        made("write('@DIR/new/../user/.vscode/tasks.json')"),
        made("os.mkdir('@DIR/new/.stockade')"),
        made("os.mkdir('@DIR/new/a'); os.rename('@DIR/new/a', '@DIR/new/.stockade')"),
        made("os.rename('@DIR/new', '@DIR/old'); os.mkdir('@DIR/user/.cursor'); write('@DIR/user/.cursor/x')"),
        "os.mkdir('@DIR/user/.cursor'); write('@DIR/user/.cursor/x')".to_string(),
        // In the place of another.
        made("renameat2('@DIR/new', '@DIR/user', 2) # EXCHANGE"),
        made("renameat2('@DIR/user', '@DIR/new', 2) # EXCHANGE"),
        made("os.rename('@DIR/user', '@DIR/gone'); os.rename('@DIR/new', '@DIR/user')"),
        made("os.rename('@DIR/user', '@DIR/gone'); os.mkdir('@DIR/user'); os.rename('@DIR/new', '@DIR/user/sub')"),
        "os.rename('@DIR/user', '@DIR/gone'); os.mkdir('@DIR/user'); os.mkdir('@DIR/user/.vscode'); write('@DIR/user/.vscode/x')".into(),
        "os.rename('@DIR/user/sub', '@DIR/user/gone'); os.makedirs('@DIR/user/sub/x/.claude'); write('@DIR/user/sub/x/.claude/x')".into(),
        "os.rename('@DIR/user', '@DIR/gone'); os.makedirs('@DIR/user/.git/hooks'); \
         write('@DIR/user/.git/hooks/pre-commit')"
            .into(),
        "os.mkdir('@DIR/new'); renameat2('@DIR/new', '@DIR/user', 2); os.mkdir('@DIR/user/.vscode'); write('@DIR/user/.vscode/x') # EXCHANGE".into(),
        "os.rename('@DIR/user/sub', '@DIR/user/gone'); os.rename('@DIR/user', '@DIR/u'); \
         os.makedirs('@DIR/u/sub/.claude'); write('@DIR/u/sub/.claude/x')"
            .into(),
        "import shutil; shutil.rmtree('@DIR/user/sub'); os.makedirs('@DIR/user/sub/.claude'); write('@DIR/user/sub/.claude/x')".into(),
        "import shutil; shutil.rmtree('@DIR/user/sub/.hg'); os.makedirs('@DIR/user/sub/.claude'); write('@DIR/user/sub/.claude/x')".into(),
    ];
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    for profile in WRITING {
        let worked = [
            own,
            &made("os.rename('@DIR/new', '@DIR/other'); write('@DIR/other/.vscode/tasks.json')"),
            &made("os.rename('@DIR/new/.vscode', '@DIR/new/old'); os.rename('@DIR/new/old', '@DIR/new/.vscode')"),
            &made("os.makedirs('@DIR/new/a/b/.claude/skills'); os.rename('@DIR/new/a', '@DIR/new/c')"),
            &made("os.makedirs('@DIR/new/a/.claude/x'); os.rename('@DIR/new/a/.claude', '@DIR/new/.claude')"),
            &made("import shutil; shutil.rmtree('@DIR/new')"),
            &made("os.rename('@DIR/user', '@DIR/u'); os.rename('@DIR/u', '@DIR/user')"),
        ];
        let probe = works(Probe::new(), files, &worked);
        attempts(probe, files, &forms)
            .in_trees_of_their_own()
            .refused(profile, REFUSED);
    }
}

#[test]
fn a_new_repository_lifts_no_denial_but_the_one_that_guards_git() {
    let attempt = "for d in out .claude .stockade; do mkdir $d/.git 2>/dev/null && echo made $d; done; \
                   mkdir own && mkdir own/.git && echo x > own/.git/config && echo own; echo x > own/.git/.env 2>/dev/null \
                   || echo closed";
    crate::common::run()
        .profile("workspace")
        .flags(["--deny", "./out/**"])
        .file("out/x", "x")
        .file(".claude/x", "x")
        .file(".stockade/x", "x")
        .bash(attempt)
        .stdout("own\nclosed\n")
        .any_stderr()
        .ends();
}

/// What a user's own programs take for theirs in `/tmp`: clients of tmux do what a server there says, `ssh-add` gives an agent
/// keys, and npm executes what its cache holds.
// promise: guarded.10
#[test]
fn what_programs_obey_in_tmp_is_not_made_or_replaced() {
    // No other name in `/tmp` holds it.
    let number = format!("7340{:08}", std::process::id());
    let existing = [
        format!("/tmp/ssh-stockade{number}/agent.1"),
        format!("/tmp/ssh-stockade{number}/agent.2"),
        format!("/tmp/torchinductor_{number}/x"),
    ];
    let attacks = [
        format!("rm {}", existing[0]),
        format!("mv {} {}.old", existing[1], existing[1]),
        format!("echo evil > {}", existing[2]),
        format!("mkdir /tmp/bunx-$(id -u)-{number}"),
        format!("ln -s . /tmp/torchinductor_{number}0"),
        format!("touch /tmp/vscode-{number}.sock"),
        format!("mkdir -p /tmp/nvim.{number}/a && touch /tmp/nvim.{number}/a/nvim.1.0"),
        format!("mv /tmp/ssh-stockade{number} /tmp/stockade-escape-{number}"),
    ];
    let make = || {
        let directories = existing.iter().filter_map(|path| Path::new(path).parent());
        directories.for_each(|directory| fs::create_dir_all(directory).unwrap());
        existing.iter().for_each(|path| fs::write(path, "theirs").unwrap());
    };
    let clear = || {
        let names = fs::read_dir("/tmp").unwrap().flatten().map(|entry| entry.path());
        for path in names.filter(|path| path.to_string_lossy().contains(&number)) {
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    };
    let place = Place::new();
    let succeed = |words: &[&str]| -> Vec<&String> {
        make();
        let tried = attacks.iter().filter(|attack| {
            let mut command = place.command(words[0]);
            finish(command.args(&words[1..]).args(["sh", "-c", attack]), b"")
                .status
                .success()
        });
        let tried = tried.collect();
        clear();
        tried
    };
    assert_eq!(succeed(&["env"]).len(), attacks.len(), "so this proves nothing");
    // Some users have a directory of their own.
    let deeper = tempfile::tempdir_in("/tmp").unwrap();
    let deep = format!("mkdir {}/torchinductor_x", deeper.path().display());
    for (variable, is_made) in [("OTHER", true), ("TMPDIR", false)] {
        let mut command = place.command(STOCKADE);
        command.args([
            "run",
            "--ask",
            "never",
            "--profile",
            "filesystem",
            "--",
            "sh",
            "-c",
            &deep,
        ]);
        let finished = finish(command.env(variable, deeper.path()), b"");
        assert_eq!(finished.status.success(), is_made, "{variable}: {}", finished.stderr());
        let _ = fs::remove_dir(deeper.path().join("torchinductor_x"));
    }
    for profile in ["filesystem", "workspace", "trusted"] {
        let words = [STOCKADE.path(), "run", "--ask", "never", "--profile", profile, "--"];
        assert_eq!(succeed(&words), [""; 0], "{profile}");
        make();
        let read = finish(
            place.command(words[0]).args(&words[1..]).args(["cat", &existing[2]]),
            b"",
        );
        clear();
        assert_eq!(read.stdout(), "theirs", "{profile}: {}", read.stderr());
    }
}

/// What a repository's own configuration names is obeyed as what lies in its `.git`.
// promise: guarded.5
#[test]
fn hooks_and_programs_that_a_configuration_names_are_not_changed() {
    let configuration = "[core]\n\thooksPath = .husky/_\n\tattributesFile = .gitattrs\n[include]\n\tpath = ../more.conf\n\
                         [filter \"x\"]\n\tclean = python3 tools/clean.py %f\n[alias]\n\tst = !./tools/st\n\
                         [remote \"o\"]\n\turl = ./plain\n";
    let files: &[(&str, &str)] = &[
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", configuration),
        (".husky/pre-commit", "true\n"),
        (".husky/_/h", "true\n"),
        ("more.conf", "[core]\n\tfsmonitor = tools/watch\n"),
        ("tools/clean.py", ""),
        ("tools/st", ""),
        ("tools/watch", ""),
        ("tools/other", ""),
        ("plain", ""),
    ];
    let fine = [
        "write('@DIR/tools/other'); write('@DIR/plain'); write('@DIR/tools/new')",
        "read('@DIR/.husky/_/h')",
    ];
    let attempts_on = [
        "write('@DIR/.husky/_/h')",
        "write('@DIR/.husky/_/new')",
        "write('@DIR/.husky/pre-commit')",
        "os.rename('@DIR/.husky', '@DIR/husky')",
        "os.unlink('@DIR/.husky/_/h')",
        "write('@DIR/.gitattrs')",
        "write('@DIR/more.conf')",
        "write('@DIR/tools/clean.py')",
        "os.rename('@DIR/plain', '@DIR/tools/st')",
        "write('@DIR/tools/watch')",
        "os.rename('@DIR/tools', '@DIR/t'); os.mkdir('@DIR/tools'); write('@DIR/tools/st')",
    ];
    for profile in WRITING {
        let probe = works(Probe::new(), files, &fine);
        attempts(probe, files, &attempts_on)
            .in_trees_of_their_own()
            .refused(profile, REFUSED);
    }
}

/// So is what the user's own configuration names in the tree.
// promise: guarded.5
#[test]
fn hooks_and_programs_that_the_users_own_configuration_names_are_not_changed() {
    let configuration = "[core]\n\thooksPath = own/hooks\n[filter \"x\"]\n\tclean = python3 own/clean.py\n";
    for profile in WRITING {
        Probe::new()
            .file("~/.gitconfig", configuration)
            .file(".git/HEAD", "ref: refs/heads/main\n")
            .file("own/hooks/pre-commit", "true\n")
            .file("own/clean.py", "")
            .file("own/other", "")
            .works("write('own/other'); read('own/clean.py')")
            .attempt("write('own/clean.py')")
            .attempt("write('own/hooks/pre-commit', 'ab')")
            .attempt("write('own/hooks/new')")
            .attempt("os.rename('own/hooks', 'own/away')")
            .refused(profile, "EACCES|EXDEV");
    }
}
