//! Memory and queues that others can name are closed; what Python's `multiprocessing` makes for itself works.

use super::cases::SUPERVISED;
use crate::common::{Place, Probe, finish, python, run};

#[test]
fn message_queues() {
    let queues = [
        "i = call(68, 0, 0o1600); call(71, i, 0, 0) # msgget",
        "call(69, 0, bytes(16), 1, 0) # msgsnd",
        "call(70, 0, bytes(16), 1, 0, 0o4000) # msgrcv",
        "call(71, 0, 12, bytes(256)) # msgctl(MSG_INFO)",
        "n = 'stockade-%d' % os.getpid(); call(240, n, 0o102, 0o600, 0); call(241, n) # mq_open",
        "call(241, 'stockade-none') # mq_unlink",
        "call(242, -1, b'x', 1, 0, 0) # mq_timedsend",
        "call(243, -1, bytes(8), 8, 0, 0) # mq_timedreceive",
        "call(244, -1, 0) # mq_notify",
    ];
    for profile in SUPERVISED {
        let probe = queues.into_iter().fold(Probe::new(), Probe::reaches_the_kernel);
        probe.refused(profile, "EPERM");
    }
}

/// Shared memory and a semaphore of somebody else's, with a key, gone with the value.
struct SystemV {
    key: i32,
    memory: i32,
    semaphores: i32,
}

impl SystemV {
    fn new() -> Option<SystemV> {
        let key = 0x5354_0000 | i32::try_from(std::process::id() & 0xffff).unwrap();
        let made = SystemV::python(&format!(
            "print(libc.shmget({key}, 4096, 0o1600), libc.semget({key}, 1, 0o1600))"
        ));
        let ids: Vec<i32> = made.split_whitespace().filter_map(|id| id.parse().ok()).collect();
        let [memory, semaphores] = ids[..] else { return None };
        (memory >= 0 && semaphores >= 0).then_some(SystemV {
            key,
            memory,
            semaphores,
        })
    }

    fn python(code: &str) -> String {
        let code = format!("import ctypes\nlibc = ctypes.CDLL(None)\n{code}");
        let ran = finish(std::process::Command::new(python()).args(["-I", "-c", &code]), b"");
        String::from_utf8(ran.stdout).unwrap()
    }
}

impl Drop for SystemV {
    fn drop(&mut self) {
        let SystemV { memory, semaphores, .. } = self;
        SystemV::python(&format!(
            "libc.shmctl({memory}, 0, None); libc.semctl({semaphores}, 0, 0)"
        ));
    }
}

// promise: processes.9
#[test]
fn system_v_objects_of_others() {
    let Some(others) = SystemV::new() else {
        return crate::common::skipped("there are no System V objects here unconfined");
    };
    let SystemV {
        key,
        memory,
        semaphores,
    } = &others;
    for profile in SUPERVISED {
        Probe::new()
            .attempt(&format!("call(30, {memory}, 0, 0) # shmat"))
            .attempt(&format!("call(31, {memory}, 2, bytes(256)) # shmctl(IPC_STAT)"))
            .attempt(&format!("call(66, {semaphores}, 0, 12, 0) # semctl(GETVAL)"))
            .attempt(&format!("call(65, {semaphores}, struct.pack('HhH', 0, 1, 0), 1) # semop"))
            .attempt(&format!("call(29, {key}, 0, 0) # shmget of its key"))
            .attempt(&format!("call(64, {key}, 0, 0) # semget of its key"))
            .attempt("call(31, 0, 14, bytes(256)) # shmctl(SHM_INFO)")
            .attempt("call(66, 0, 0, 19, bytes(256)) # semctl(SEM_INFO)")
            .answers_if_possible(
                "i = call(29, 0, 4096, 0o1600)\ntry: call(31, i, 1, struct.pack('=iIIIIII', 0, 0, 0, 0, 0, 0o666, 0) + bytes(256))\n\
                 finally: call(31, i, 0, 0)",
                "ok|EINVAL",
                "EPERM",
            )
            .answers(
                "i = call(29, 0, 4096, 0o1666)\ntry:\n  b = ctypes.create_string_buffer(256); call(31, i, 2, ctypes.addressof(b))\n  \
                 expect(struct.unpack_from('I', b, 20)[0] & 0o777 == 0o666)\nfinally: call(31, i, 0, 0) # its mode",
                "ok",
                "EBADMSG",
            )
            .refused(profile, "EACCES|ENOENT|EPERM");
    }
}

#[test]
fn system_v_objects_of_the_runs_own_work_and_end_with_it() {
    let code = "import ctypes, os, struct\n\
        libc = ctypes.CDLL(None, use_errno=True)\n\
        libc.shmat.restype = ctypes.c_void_p\n\
        def ok(result):\n  \
          assert result not in (-1, ctypes.c_void_p(-1).value), os.strerror(ctypes.get_errno())\n  \
          return result\n\
        memory, semaphore = ok(libc.shmget(77, 4096, 0o1600)), ok(libc.semget(77, 1, 0o1600))\n\
        assert ok(libc.shmget(77, 0, 0)) == memory and ok(libc.semget(77, 1, 0o1000)) == semaphore\n\
        assert libc.shmget(77, 4096, 0o3600) == -1 and ctypes.get_errno() == 17\n\
        assert libc.shmget(78, 4096, 0) == -1 and ctypes.get_errno() == 2\n\
        if os.fork() == 0:\n  \
          at = ok(libc.shmat(memory, None, 0)); ctypes.memmove(at, b'hello', 5); ok(libc.shmdt(ctypes.c_void_p(at)))\n  \
          ok(libc.semop(semaphore, struct.pack('HhH', 0, 1, 0), 1)); os._exit(0)\n\
        ok(libc.semop(semaphore, struct.pack('HhH', 0, -1, 0), 1))\n\
        assert ctypes.string_at(ok(libc.shmat(memory, None, 0)), 5) == b'hello'\n\
        gone = ok(libc.shmget(0, 4096, 0o1600)); ok(libc.shmctl(gone, 0, None))\n\
        assert libc.shmctl(gone, 2, ctypes.create_string_buffer(256)) == -1\n\
        many = [libc.semget(0, 1, 0o1600) for _ in range(300)]\n\
        assert many[-1] == -1 and ctypes.get_errno() == 28\n\
        print(memory, semaphore)\n";
    for profile in SUPERVISED {
        let ran = run().profile(profile).python(code).any_stdout().ends();
        let ids = ran.stdout();
        let mut ids = ids.split_whitespace();
        let (Some(memory), Some(semaphore)) = (ids.next(), ids.next()) else {
            panic!("nothing was made")
        };
        let left = SystemV::python(&format!(
            "print(libc.shmctl({memory}, 2, bytes(256)), libc.semctl({semaphore}, 0, 12, 0))"
        ));
        assert_eq!(left, "-1 -1\n", "{profile}");
    }
}

/// A file of somebody else's in `/dev/shm`, gone with the value.
struct Shared(std::path::PathBuf);

impl Shared {
    fn new(tag: &str) -> Option<Shared> {
        let path = format!("/dev/shm/stockade-escape-{tag}-{}", std::process::id());
        std::fs::write(&path, "VALUE").ok()?;
        Some(Shared(path.into()))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

// promise: processes.9
#[test]
fn shared_memory_of_others() {
    let (Some(read), Some(linked)) = (Shared::new("read"), Shared::new("linked")) else {
        return crate::common::skipped("there is no /dev/shm that can be written");
    };
    let path = read.0.display();
    let name = read.0.file_name().unwrap().to_str().unwrap().to_string();
    for profile in SUPERVISED {
        Probe::new()
            .attempt(&format!("read('{path}')"))
            .attempt(&format!("write('{path}', 'r+b')"))
            .attempt(&format!("os.open('{name}', 0, dir_fd=os.open('/dev/shm', os.O_PATH))"))
            .attempt(&format!("read('/proc/self/root{path}')"))
            .attempt(&format!(
                "p = os.open('{path}', os.O_PATH); read('/proc/self/fd/%d' % p)"
            ))
            .attempt(&format!(
                "l = fresh('/tmp'); os.symlink('{path}', l)\ntry: read(l)\nfinally: os.unlink(l)"
            ))
            .attempt(&format!("os.truncate('{path}', 5)"))
            .attempt(&format!("os.chmod('{path}', 0o600)"))
            .attempt(&format!(
                "import _posixshmem; os.close(_posixshmem.shm_open('/{name}', os.O_RDWR, mode=0o600))"
            ))
            .attempt(&format!(
                "os.rename('{path}', '{path}-moved'); os.rename('{path}-moved', '{path}')"
            ))
            .refused(profile, "EACCES|EPERM|ENOENT|EXDEV");
    }
    let path = linked.0.display();
    Probe::new()
        .attempt(&format!("os.link('{path}', '{path}-h'); os.unlink('{path}-h')"))
        .attempt("expect(any(n.startswith('stockade-escape') for n in os.listdir('/dev/shm')))")
        .refused("workspace", "EACCES|EPERM|EBADMSG");
}

#[test]
fn shared_memory_of_the_runs_own_works() {
    let has_it = std::process::Command::new(python())
        .args(["-I", "-c", "import multiprocessing; multiprocessing.Lock()"])
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !has_it {
        return crate::common::skipped("Python's locks don't work here unconfined");
    }
    for profile in SUPERVISED {
        Probe::new()
            .works("import multiprocessing as m; l = m.Lock(); l.acquire(); l.release()")
            .works("import multiprocessing as m; q = m.Queue(); q.put(1); expect(q.get(timeout=10) == 1)")
            .works(
                "import multiprocessing.shared_memory as m; s = m.SharedMemory(create=True, size=64); s.buf[0] = 7\n\
                 t = m.SharedMemory(name=s.name); expect(t.buf[0] == 7); t.close(); s.close(); s.unlink()",
            )
            .works(
                "import multiprocessing as m\n\
                 def double(x): return x * 2\n\
                 with m.get_context('fork').Pool(2) as p: expect(p.map(double, [1, 2]) == [2, 4])",
            )
            .works(
                "m = mmap.mmap(-1, 4096); os.fork() or (m.write(b'x'), os._exit(0)); os.wait(); expect(m[:1] == b'x')",
            )
            .refused(profile, "ok");
    }
}

/// Every name that a run gives is removed with it, so it may give only as many as are kept in mind.
// promise: processes.10
#[test]
fn no_name_in_shared_memory_outlives_the_run() {
    let prefix = format!("stockade-many-{}", std::process::id());
    let left = || {
        let entries = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
        let named = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&prefix);
        entries.filter(named).map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let code = |most: usize| {
        format!(
            "import errno, os\n\
             top = '/dev/shm/{prefix}-'\n\
             made = 0\n\
             try:\n  \
               for made in range({most}): os.close(os.open(top + str(made), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))\n\
             except OSError as error: print(errno.errorcode[error.errno], made)\n\
             for n in (0, 1): os.unlink(top + str(n))\n\
             os.link(top + '2', top + 'linked')\n\
             os.rename(top + '3', top + 'renamed')\n\
             os.rename(top + '4', top + '5')\n\
             os.rename(top + '6', top + '6')\n"
        )
    };
    let free = finish(Place::new().command(python()).args(["-I", "-c", &code(20_000)]), b"");
    let made = left();
    made.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    if !free.status.success() || made.len() < 19_000 {
        return crate::common::skipped("unconfined not so many names can be made in /dev/shm");
    }
    for (most, printed) in [(10, ""), (20_000, "ENOSPC 16384\n")] {
        run().profile("workspace").python(&code(most)).stdout(printed).ends();
        assert_eq!(left(), Vec::<std::path::PathBuf>::new());
    }
}
