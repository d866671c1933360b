//! Memory and queues that others can name are closed; what Python's `multiprocessing` makes for itself works.

use super::cases::SUPERVISED;
use crate::common::{Place, Probe, finish, python, run};

#[test]
fn system_v_and_posix_queues() {
    let probe = [
        "i = call(29, 0, 4096, 0o1600); call(31, i, 0, 0) # shmget",
        "call(29, 0x53544f43, 4096, 0) # shmget of a key",
        "call(30, 0, 0, 0) # shmat",
        "call(31, 0, 14, bytes(256)) # shmctl(SHM_INFO)",
        "i = call(64, 0, 1, 0o1600); call(66, i, 0, 0, 0) # semget",
        "call(65, 0, bytes(6), 1) # semop",
        "call(66, 0, 0, 19, bytes(256)) # semctl(SEM_INFO)",
        "call(220, 0, bytes(6), 1, 0) # semtimedop",
        "i = call(68, 0, 0o1600); call(71, i, 0, 0) # msgget",
        "call(69, 0, bytes(16), 1, 0) # msgsnd",
        "call(70, 0, bytes(16), 1, 0, 0o4000) # msgrcv",
        "call(71, 0, 12, bytes(256)) # msgctl(MSG_INFO)",
        "n = 'stockade-%d' % os.getpid(); call(240, n, 0o102, 0o600, 0); call(241, n) # mq_open",
        "call(241, 'stockade-none') # mq_unlink",
        "call(242, -1, b'x', 1, 0, 0) # mq_timedsend",
        "call(243, -1, bytes(8), 8, 0, 0) # mq_timedreceive",
        "call(244, -1, 0) # mq_notify",
    ]
    .into_iter()
    .fold(Probe::new(), Probe::reaches_the_kernel);
    for profile in SUPERVISED {
        probe.refused(profile, "EPERM");
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
             os.rename(top + '4', top + '5')\n"
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
