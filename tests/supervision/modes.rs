//! What a run makes has the mode, the group and the access list that it would have had without a supervisor.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::common::{is_root, skipped, tries};
use crate::supervision::both::both;

/// Makes one thing of each kind, and tells its mode and group.
const MAKE: &str = r#"
import stat, threading
def make(directory='.'):
    words = []
    def tell(name):
        status = os.lstat(name)
        words.append('%o' % status.st_mode + ('' if status.st_gid == os.getegid() else '/%d' % status.st_gid))
        try: words.append(os.getxattr(name, 'system.posix_acl_access', follow_symlinks=False).hex())
        except OSError: pass
    for mode in 0o777, 0o666, 0o640, 0o400, 0o000, 0o1777:
        name = fresh(directory)
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, mode)); tell(name)
        name = fresh(directory)
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW, mode)); tell(name)
        name = fresh(directory)
        os.close(openat2(name, os.O_CREAT | os.O_WRONLY, mode=mode)); tell(name)
        name = fresh(directory)
        os.mkdir(name, mode); tell(name)
        name = fresh(directory)
        os.mkfifo(name, mode & 0o777); tell(name)
        name = fresh(directory)
        os.mknod(name, stat.S_IFREG | mode & 0o777); tell(name)
        fd = os.open(directory, os.O_TMPFILE | os.O_RDWR, mode)
        name = fresh(directory)
        answer(libc.linkat(AT_FDCWD, b'/proc/self/fd/%d' % fd, AT_FDCWD, os.fsencode(name), 0x400)); tell(name)
        os.close(fd)
    name = fresh(directory)
    os.close(answer(libc.creat(os.fsencode(name), 0o777))); tell(name)
    with socket.socket(socket.AF_UNIX) as one:
        old = os.open('.', os.O_PATH)
        os.chdir(directory); one.bind('socket'); tell('socket'); os.unlink('socket')
        os.fchdir(old); os.close(old)
    name = fresh(directory)
    os.symlink('x', name); tell(name)
    return ' '.join(words)
MASKS = 0o000, 0o022, 0o027, 0o077, 0o777
"#;

fn modes(code: &str) -> crate::supervision::both::Both {
    both(&format!("{MAKE}\n{}", crate::supervision::both::dedent(code)))
}

#[test]
fn modes_follow_the_callers_umask() {
    modes("for mask in MASKS: os.umask(mask); print('%o' % mask, make())").print_the_same();
}

#[test]
fn modes_follow_the_umask_that_the_run_began_with() {
    for mask in ["000", "022", "027", "077"] {
        let said = modes("print(make())").after(&format!("umask {mask}")).print_the_same();
        let first = ["100777", "100755", "100750", "100700"]
            [["000", "022", "027", "077"].iter().position(|m| *m == mask).unwrap()];
        assert!(said.starts_with(first), "{said}");
    }
}

#[test]
fn modes_follow_a_umask_that_a_thread_or_a_child_sets() {
    modes(
        r#"
        def in_thread(what):
            got = []
            t = threading.Thread(target=lambda: got.append(what())); t.start(); t.join()
            return got[0]
        def in_child(what):
            reader, writer = os.pipe()
            if os.fork() == 0:
                os.write(writer, str(what()).encode()); os._exit(0)
            os.close(writer); os.wait()
            return os.fdopen(reader).read()
        os.umask(0o027)
        print(in_thread(make)); print(in_child(make))
        in_thread(lambda: os.umask(0o002)); print(make())          # Threads share it,
        in_child(lambda: os.umask(0o077)); print(make())           # processes don't,
        print(in_child(lambda: (os.umask(0o077), make())[1]))
        def alone():
            answer(libc.unshare(0x200)); os.umask(0o007); return make()
        print(in_thread(alone)); print(make())                     # nor do threads that stop sharing it.
        print(in_child(lambda: in_thread(make)))
        "#,
    )
    .print_the_same();
}

#[test]
fn a_umask_that_changes_all_the_time_is_each_callers_own() {
    modes(
        r#"
        wrong = []
        def alone(mask):
            answer(libc.unshare(0x200)); os.umask(mask)
            for n in range(tries(120, 200)):
                name = '%o-%d' % (mask, n)
                os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o777))
                os.mkdir(name + 'd')
                for made in name, name + 'd':
                    if os.stat(made).st_mode & 0o777 != 0o777 & ~mask: wrong.append((made, oct(os.stat(made).st_mode)))
        threads = [threading.Thread(target=alone, args=(mask,)) for mask in (0, 0o22, 0o27, 0o77, 0o07, 0o70)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(len(os.listdir('.')), wrong[:3])
        "#,
    )
    .print(&format!("{} []\n", tries(1440, 2400)));
}

/// The entries of an access list as the kernel stores them (acl(5), linux/posix_acl_xattr.h).
const LIST: &str = r#"
def access_list(*entries):
    return struct.pack('I', 2) + b''.join(struct.pack('HHI', tag, rights, who) for tag, rights, who in entries)
USER_OBJ, USER, GROUP_OBJ, GROUP, MASK, OTHER, NOBODY = 1, 2, 4, 8, 16, 32, 0xffffffff
lists = [
    access_list((USER_OBJ, 7, NOBODY), (USER, 7, 12345), (GROUP_OBJ, 7, NOBODY), (MASK, 7, NOBODY), (OTHER, 5, NOBODY)),
    access_list((USER_OBJ, 6, NOBODY), (GROUP_OBJ, 4, NOBODY), (GROUP, 6, 54321), (MASK, 6, NOBODY), (OTHER, 0, NOBODY)),
    access_list((USER_OBJ, 7, NOBODY), (GROUP_OBJ, 0, NOBODY), (OTHER, 7, NOBODY)),
]
"#;

#[test]
fn default_access_lists_are_inherited_in_place_of_the_umask() {
    let proof = crate::common::Place::new();
    let set = format!("import os, struct\n{LIST}\nos.setxattr('.', 'system.posix_acl_default', lists[0])");
    let mut command = proof.command(crate::common::python());
    if !crate::common::finish(command.args(["-I", "-c", &set]), b"")
        .status
        .success()
    {
        return skipped("this file system has no access lists");
    }
    let said = modes(&format!(
        "{LIST}\n\
         for n, list in enumerate(lists):\n  \
           os.mkdir('d%d' % n); os.setxattr('d%d' % n, 'system.posix_acl_default', list)\n  \
           print(os.getxattr('d%d' % n, 'system.posix_acl_default') == list)\n  \
           for mask in MASKS:\n    \
             os.umask(mask); print(make('d%d' % n))\n    \
             os.umask(0)\n    \
             os.mkdir('d%d/%o' % (n, mask)); print(os.getxattr('d%d/%o' % (n, mask), 'system.posix_acl_default') == list)\n"
    ))
    .print_the_same();
    assert!(said.contains("02000000"), "no list was inherited: {said}");
}

#[test]
fn what_is_made_in_a_set_group_id_directory_has_its_group() {
    if !is_root() {
        return skipped("another group's directory can't be made by an ordinary user");
    }
    let said = modes("for mask in MASKS[:4]: os.umask(mask); print(make('d')); print(make('.'))")
        .given(|place| {
            let directory = place.path("d");
            std::fs::create_dir(&directory).unwrap();
            std::os::unix::fs::chown(&directory, None, Some(12345)).unwrap();
            std::fs::set_permissions(&directory, Permissions::from_mode(0o2775)).unwrap();
        })
        .print_the_same();
    assert!(said.contains("42777/12345"), "nothing was inherited: {said}");
}

#[test]
fn a_file_without_a_name_gets_one() {
    modes(
        r#"
        fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o640)
        os.write(fd, b'text'); print(os.fstat(fd).st_nlink)
        answer(libc.linkat(AT_FDCWD, b'/proc/self/fd/%d' % fd, AT_FDCWD, b'named', 0x400))
        print(open('named').read(), os.fstat(fd).st_nlink, os.path.samestat(os.fstat(fd), os.stat('named')))
        fd = os.open('.', os.O_TMPFILE | os.O_RDWR | os.O_EXCL, 0o640)
        try: answer(libc.linkat(AT_FDCWD, b'/proc/self/fd/%d' % fd, AT_FDCWD, b'never', 0x400))
        except OSError as error: print(errno.errorcode[error.errno])
        try: os.open('.', os.O_TMPFILE | os.O_RDONLY)
        except OSError as error: print(errno.errorcode[error.errno])
        "#,
    )
    .print("0\ntext 1 True\nENOENT\nEINVAL\n");
}

/// The short way (AT_EMPTY_PATH), which the kernel gives to the opener of the file (6.10) or to one that may do anything.
#[test]
fn a_file_without_a_name_gets_one_by_its_descriptor() {
    let code = "fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o640)\n\
         print(answer(libc.linkat(fd, b'', AT_FDCWD, b'named', 0x1000)))";
    let place = crate::common::Place::new();
    let mut command = place.command(crate::common::python());
    let prelude = include_str!("../common/prelude.py");
    if !crate::common::finish(command.args(["-I", "-c", &format!("{prelude}\n{code}")]), b"")
        .status
        .success()
    {
        return skipped("this kernel lets this user name no file by its descriptor");
    }
    both(code).print("0\n");
}
