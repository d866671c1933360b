//! The descriptors that a run gets are those that it would have got without a supervisor.

use crate::supervision::both::both;

#[test]
fn flags_of_an_open_file_are_those_that_were_asked_for() {
    both(
        r#"
        import fcntl, itertools
        O_CLOEXEC, more = os.O_CLOEXEC, {'APPEND': os.O_APPEND, 'NONBLOCK': os.O_NONBLOCK, 'DIRECT': os.O_DIRECT,
            'SYNC': os.O_SYNC, 'DSYNC': os.O_DSYNC, 'NOATIME': os.O_NOATIME, 'ASYNC': 0o20000, 'NOCTTY': os.O_NOCTTY,
            'TRUNC': os.O_TRUNC, 'CREAT': os.O_CREAT, 'LARGEFILE': 0o100000, 'CLOEXEC': O_CLOEXEC, 'NOTHING': 0}
        def tell(name, *arguments):
            try: fd = os.open(*arguments)
            except OSError as error: return print(name, errno.errorcode[error.errno])
            # Whether O_CLOEXEC shows here is the kernel's whim; F_GETFD is where it counts.
            flags = fcntl.fcntl(fd, fcntl.F_GETFL) & ~O_CLOEXEC
            print(name, oct(flags), os.get_inheritable(fd), os.lseek(fd, 0, os.SEEK_CUR) if flags & os.O_PATH == 0 else '')
            os.close(fd)
        for access in 'RDONLY', 'WRONLY', 'RDWR':
            for one, two in itertools.combinations(more, 2):
                flags = getattr(os, 'O_' + access) | more[one] | more[two]
                tell('%s %s %s' % (access, one, two), 'plain', flags)
        for flags in os.O_DIRECTORY, os.O_PATH, os.O_PATH | os.O_DIRECTORY, os.O_PATH | os.O_NOFOLLOW, os.O_DIRECTORY | os.O_NONBLOCK:
            tell('directory', '.', flags)
        for path in '/etc/passwd', '/dev/null', '/proc/self/status', '/usr/bin/env':
            for flags in os.O_RDONLY, os.O_RDONLY | os.O_NONBLOCK, os.O_PATH:
                tell(path, path, flags)
        for name in 'new1', 'new2':
            tell('new', name, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND | os.O_SYNC, 0o600)
        tell('nameless', '.', os.O_TMPFILE | os.O_RDWR | os.O_APPEND)
        "#,
    )
    .file("plain", "plain")
    .print_the_same();
}

/// Flags that only say how the file is found. `O_NOFOLLOW` isn't among them: the object was found before, so that a
/// descriptor doesn't show it.
#[test]
fn flags_that_say_how_a_file_is_found_are_shown_as_bare() {
    both(
        r#"
        import fcntl
        for flags in os.O_NOCTTY, os.O_EXCL, os.O_CREAT | os.O_WRONLY, os.O_CLOEXEC, 0:
            fd = os.open('plain', flags)
            # Python itself adds O_CLOEXEC to all opens, so libc is asked as well.
            other = answer(libc.open(b'plain', flags, 0o600))
            print(oct(fcntl.fcntl(fd, fcntl.F_GETFL)), oct(fcntl.fcntl(other, fcntl.F_GETFL)))
        "#,
    )
    .file("plain", "plain")
    .print_the_same();
}

#[test]
fn close_on_execute_is_kept() {
    both(
        r#"
        import fcntl
        libc.open.restype = ctypes.c_int
        kept, closed = [], []
        for flags in os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_CREAT | os.O_WRONLY, os.O_PATH:
            kept.append(answer(libc.open(b'plain', flags, 0o600)))
            closed.append(answer(libc.open(b'plain', flags | os.O_CLOEXEC, 0o600)))
        kept.append(openat2('plain')); closed.append(openat2('plain', os.O_CLOEXEC))
        kept.append(answer(libc.creat(b'made', 0o600)))
        print([fcntl.fcntl(fd, fcntl.F_GETFD) for fd in kept], [fcntl.fcntl(fd, fcntl.F_GETFD) for fd in closed])
        code = 'import os, sys\nfor fd in eval(sys.argv[1]):\n  try: os.fstat(fd); print(fd in eval(sys.argv[2]))\n  except OSError: print("gone")'
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, '-I', '-c', code, repr(kept + closed), repr(kept)])
        "#,
    )
    .file("plain", "plain")
    .print(&format!("[0, 0, 0, 0, 0, 0, 0] [1, 1, 1, 1, 1, 1]\n{}{}", "True\n".repeat(7), "gone\n".repeat(6)));
}

#[test]
fn a_file_is_named_by_openat_where_openat2_is_missing() {
    both(
        r#"
        try: named = openat2('plain', os.O_PATH, resolve=8)
        except OSError as e:
            expect(e.errno == errno.ENOSYS)
            named = os.open('plain', os.O_PATH)
        print(os.fstat(named).st_size)
        try: openat2('plain', os.O_PATH | os.O_RDWR)
        except OSError as e: print(errno.errorcode[e.errno])
        "#,
    )
    .file("plain", "plain")
    .print("5\nEINVAL\n");
}

#[test]
fn the_lowest_free_number_is_used() {
    both(
        r#"
        held = [os.open('plain', os.O_RDONLY) for n in range(20)]
        print(held == sorted(held))
        for fd in held[15], held[3], held[9]: os.close(fd)
        print([held.index(os.open('plain', flags)) for flags in (os.O_RDONLY, os.O_WRONLY, os.O_CREAT | os.O_RDWR)])
        os.close(held[5])
        print(held.index(os.open('new', os.O_CREAT | os.O_EXCL | os.O_WRONLY)))
        os.close(held[0])
        print(held.index(os.open('.', os.O_RDONLY)))
        os.close(held[0])
        print(held.index(os.memfd_create('m')))
        os.close(0)
        print(os.open('plain', os.O_RDONLY))
        "#,
    )
    .file("plain", "plain")
    .print("True\n[3, 9, 15]\n5\n0\n0\n0\n");
}

#[test]
fn a_full_table_is_said_and_nothing_is_made_or_lost() {
    both(
        r#"
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
        held = []
        try:
            while True: held.append(os.open('plain', os.O_RDONLY))
        except OSError as error: print(errno.errorcode[error.errno], held[-1])
        for path, flags in ('plain', os.O_WRONLY), ('plain', os.O_PATH), ('new', os.O_CREAT | os.O_WRONLY), ('/etc/passwd', 0), \
                           ('.', os.O_TMPFILE | os.O_RDWR), ('plain', os.O_WRONLY | os.O_TRUNC):
            try: os.open(path, flags)
            except OSError as error: print(errno.errorcode[error.errno])
        try: os.memfd_create('m')
        except OSError as error: print(errno.errorcode[error.errno])
        os.close(held.pop())
        print(os.path.exists('new'), os.path.getsize('plain'))
        print(os.open('plain', os.O_RDWR))
        # 0 allows none at all, and what is open stays.
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 40))
        os.close(39)
        try: os.open('plain', os.O_RDONLY)
        except OSError as error: print(errno.errorcode[error.errno])
        print(os.pread(held[0], 9, 0))
        "#,
    )
    .file("plain", "plain")
    .print(&format!("EMFILE 39\n{}False 5\n39\nEMFILE\nb'plain'\n", "EMFILE\n".repeat(7)));
}

#[test]
fn each_open_has_an_offset_of_its_own() {
    both(
        r#"
        one, two = os.open('plain', os.O_RDWR), os.open('plain', os.O_RDWR)
        print(os.read(one, 2), os.read(two, 3), os.read(one, 3))
        os.lseek(two, 1, os.SEEK_SET); os.write(two, b'XY'); print(os.pread(one, 9, 0))
        append = os.open('plain', os.O_WRONLY | os.O_APPEND)
        os.write(append, b'end'); os.lseek(append, 0, 0); os.write(append, b'.'); print(open('plain').read())
        three = os.open('/proc/self/fd/%d' % one, os.O_RDONLY); print(os.lseek(three, 0, os.SEEK_CUR), os.read(three, 2))
        if os.fork() == 0: os.lseek(one, 4, os.SEEK_SET); os._exit(0)
        os.wait(); print(os.read(one, 2))
        "#,
    )
    .file("plain", "plain")
    .print("b'pl' b'pla' b'ain'\nb'pXYin'\npXYinend.\n0 b'pX'\nb'ne'\n");
}

#[test]
fn shared_memory_of_a_file_is_shared() {
    both(
        r#"
        write('map'); os.truncate('map', 8192)
        def mapped(flags, prot=mmap.PROT_READ | mmap.PROT_WRITE):
            fd = os.open('map', flags)
            return mmap.mmap(fd, 8192, mmap.MAP_SHARED, prot)
        mine = mapped(os.O_RDWR)
        pid = os.fork()
        if pid == 0:
            its = mapped(os.O_RDWR)
            its[5000] = 42
            while mine[5001] != 43 or its[5001] != 43: pass
            os._exit(0)
        end = time.monotonic() + 10
        while mine[5000] != 42 and time.monotonic() < end: pass
        mine[5001] = 43
        print(os.waitpid(pid, 0)[1], mapped(os.O_RDONLY, mmap.PROT_READ)[5000:5002], open('map', 'rb').read()[5000:5002])
        try: mapped(os.O_RDONLY)
        except PermissionError: print('refused')
        # As loaders do.
        print(len(mapped(os.O_RDONLY, mmap.PROT_READ | mmap.PROT_EXEC)))
        "#,
    )
    .print("0 b'*+' b'*+'\nrefused\n8192\n");
}
