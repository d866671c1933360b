//! `/proc/self` and its like, however they are reached: the caller's own entries, never the supervisor's.

use crate::supervision::both::both;

/// Marks its own environment, so that no other passes for it. `check` looks at what a path leads to.
const CHECKS: &str = r#"
import threading
if 'MARK_OF_THE_CALLER' not in os.environ:
    os.execve(sys.executable, sys.orig_argv, {'MARK_OF_THE_CALLER': '1'})

def of_this_thread(): return threading.get_native_id()

def mem(path):
    mine = os.urandom(16)
    buffer = ctypes.create_string_buffer(mine, 16)
    fd = os.open(path, os.O_RDONLY)
    got = os.pread(fd, 16, ctypes.addressof(buffer))
    os.close(fd)
    return got == mine

def text(path):
    with open(path, 'rb') as file: return file.read()

def environ(path): return b'MARK_OF_THE_CALLER=1' in text(path)
def maps(path): return b'/python3' in text(path) and b'stockade' not in text(path)
def status(path): return b'\nPid:\t%d\n' % os.getpid() in text(path)
def thread_status(path): return b'\nPid:\t%d\n' % of_this_thread() in text(path)
def exe(path): return text(path) == text(os.path.realpath(sys.executable))
def plain(path): return text(path) == b'plain'

made = []
def link(to, directory='@ROOT'):
    """A link of the caller's own."""
    made.append(fresh(directory))
    os.symlink(to, made[-1])
    return made[-1]

def held():
    """A descriptor of the caller's."""
    fd = os.open('@ROOT/plain', os.O_RDONLY)
    return fd

def checks():
    """Yields a name and whether it was the caller's own."""
    direct = [('mem', mem), ('environ', environ), ('maps', maps), ('status', status), ('exe', exe), ('cwd/plain', plain)]
    for self in 'self', 'self/task/%d' % of_this_thread(), 'thread-self':
        for name, check in direct:
            if self != 'self' and check is status: check = thread_status
            path = '/proc/%s/%s' % (self, name)
            yield path, check(path)
            yield 'link to ' + path, check(link(path))
            yield 'two links to ' + path, check(link(link(path)))
            yield 'link in the middle of ' + path, check(link('/proc/' + self) + '/' + name)
            yield 'link to proc before ' + path, check(link('/proc') + '/' + self + '/' + name)
            yield 'relative link to ' + path, check(link('../../../../../../../..' + path))
            yield 'link after .. to ' + path, check(link('/proc/../proc/./%s/../%s/%s' % (self, of_this_thread() if 'thread' in self or '/' in self else 'self', name)))
        fd = held()
        for directory in '/proc/%s/fd' % self, '/dev/fd':
            yield directory, plain('%s/%d' % (directory, fd))
            yield 'link to ' + directory, plain(link('%s/%d' % (directory, fd)))
            yield 'link in the middle of ' + directory, plain('%s/%d' % (link(directory), fd))
        os.close(fd)
        d = os.open('/proc/' + self, os.O_PATH)
        fd = os.open('maps', os.O_RDONLY, dir_fd=d)
        yield 'descriptor of /proc/' + self, b'/python3' in os.read(fd, 65536)
        os.close(fd); os.close(d)

def run(words):
    try:
        for name, is_own in checks(): words.append((name, is_own))
    except OSError as error:
        words.append((str(error), False))

def tell(words):
    print(sum(is_own for _, is_own in words), [name for name, is_own in words if not is_own])
"#;

fn is_own(code: &str) {
    let said = both(&format!("{CHECKS}\n{code}"))
        .file("plain", "plain")
        .print_the_same();
    let wrong = said.lines().filter(|line| !line.ends_with(" []")).count();
    assert_eq!(wrong, 0, "bare, so this proves nothing: {said}");
}

#[test]
fn entries_of_oneself_are_the_callers() {
    is_own("words = []; run(words); tell(words)");
}

#[test]
fn entries_of_oneself_are_the_callers_in_a_thread() {
    is_own(
        "words = []\n\
         threads = [threading.Thread(target=run, args=(words,)) for _ in range(3)]\n\
         for t in threads: t.start(); t.join()\n\
         tell(words)",
    );
}

#[test]
fn entries_of_oneself_are_the_callers_in_a_child() {
    is_own(
        "run([])\n\
         for n in range(3):\n  \
           sys.stdout.flush()\n  \
           if os.fork() == 0: words = []; run(words); tell(words); sys.stdout.flush(); os._exit(0)\n  \
           os.wait()\n",
    );
}

#[test]
fn entries_of_oneself_are_the_callers_in_another_program() {
    is_own(
        "words = []\nif len(os.environ) == 1: os.environ['AGAIN'] = '1'; os.execve(sys.executable, sys.orig_argv, os.environ)\nrun(words); tell(words)",
    );
}

#[test]
fn the_root_of_oneself_shows_no_more_than_the_root() {
    both(
        r#"
        os.symlink('/proc/self/root', 'l'); os.symlink('/proc/self/root/etc/hosts', 'm')
        for path in '/etc/hosts', '/proc/self/root/etc/hosts', 'l/etc/hosts', 'm', '/proc/thread-self/root/etc/hosts', \
                    '/proc/self/root/proc/self/root/etc/hosts', '/proc/self/cwd/../../../../etc/hosts':
            try: read(path); print('ok')
            except OSError as error: print(errno.errorcode[error.errno])
        read('/proc/self/root/proc/self/root@ROOT/plain'); read('l@ROOT/plain')
        "#,
    )
    .file("plain", "plain")
    .print_each(&"ok\n".repeat(7), &"EACCES\n".repeat(7));
}

#[test]
fn a_missing_descriptor_is_missing_even_where_another_process_has_that_number() {
    both(
        r#"
        words = set()
        os.closerange(3, 200)
        for n in range(3, 200):
            for path in '/proc/self/fd/%d', '/dev/fd/%d', '/proc/thread-self/fd/%d':
                os.symlink(path % n, 'l')
                for name in path % n, 'l':
                    try: os.close(os.open(name, os.O_RDONLY)); words.add(name)
                    except OSError as error: words.add(errno.errorcode[error.errno])
                os.unlink('l')
        print(words)
        "#,
    )
    .print("{'ENOENT'}\n");
}

/// A link out of a granted tree, which the kernel's rule for that tree doesn't cover.
#[test]
fn a_link_out_of_a_granted_tree_leads_nowhere() {
    use crate::common::run;
    let code = "import os\n\
        for name in 'in', 'out', 'dir/file':\n  \
          try: print(open('@HOME/granted/' + name).read())\n  \
          except OSError as error: print(error.errno)\n";
    let begun = run()
        .profile("workspace")
        .file("~/granted/in", "in")
        .file("~/other/file", "other")
        .flags(["--read", "@HOME/granted"])
        .python(code)
        .stdout("in\n13\n13\n");
    let home = begun.place.home.clone();
    std::os::unix::fs::symlink(home.join("other/file"), home.join("granted/out")).unwrap();
    std::os::unix::fs::symlink("../other", home.join("granted/dir")).unwrap();
    for name in ["out", "dir/file"] {
        assert_eq!(
            std::fs::read_to_string(home.join("granted").join(name)).unwrap(),
            "other"
        );
    }
    begun.ends();
}
