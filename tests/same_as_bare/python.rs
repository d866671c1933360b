//! Python's processes, locks and shared memory.

use super::twins::{Twins, installed};

// Databases of `dbm` and compiled modules hold random numbers and times.
fn same(code: &str) -> String {
    Twins::new()
        .file("main.py", code)
        .file("package/__init__.py", "VALUE = 7\n")
        .loosely(&["*.pyc", "shelf*"])
        .same_command(&["/usr/bin/python3", "main.py"])
}

#[test]
fn multiprocessing_has_pools_locks_and_queues() {
    if installed(&["python3"]) {
        let said = same(
            r#"
import multiprocessing, os
def square(number):
    return number * number
def add(counter, lock, queue):
    for _ in range(200):
        with lock:
            counter.value += 1
    queue.put(os.getpid() != os.getppid())
if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(3) as pool:
            print(method, pool.map(square, range(10)))
        counter, lock, queue = context.Value("i", 0, lock=False), context.Lock(), context.Queue()
        workers = [context.Process(target=add, args=(counter, lock, queue)) for _ in range(3)]
        [worker.start() for worker in workers]
        print([queue.get(timeout=60) for _ in workers])
        [worker.join() for worker in workers]
        print(counter.value, [worker.exitcode for worker in workers])
"#,
        );
        assert!(said.contains("600 [0, 0, 0]"), "{said}");
    }
}

#[test]
fn shared_memory_is_shared_and_removed() {
    if installed(&["python3"]) {
        let said = same(
            r#"
import os
from multiprocessing import get_context, shared_memory
def fill(name):
    memory = shared_memory.SharedMemory(name=name)
    memory.buf[:5] = b"child"
    memory.close()
if __name__ == "__main__":
    memory = shared_memory.SharedMemory(create=True, size=4096)
    child = get_context("fork").Process(target=fill, args=(memory.name,))
    child.start(); child.join()
    print(bytes(memory.buf[:5]), child.exitcode, os.path.exists("/dev/shm/" + memory.name))
    memory.close(); memory.unlink()
    print(os.path.exists("/dev/shm/" + memory.name))
    words = shared_memory.ShareableList([1, "two", 3.0])
    print(list(words)); words.shm.close(); words.shm.unlink()
"#,
        );
        assert!(said.contains("child"), "{said}");
    }
}

#[test]
fn concurrent_futures_and_asyncio_start_processes() {
    if installed(&["python3"]) {
        same(
            r#"
import asyncio, concurrent.futures, pathlib, sys
async def main():
    child = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    print(await child.communicate(b"through cat\n"), child.returncode)
    loop = asyncio.get_running_loop()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        await asyncio.gather(*[loop.run_in_executor(pool, pathlib.Path(f"{n}.txt").write_text, str(n)) for n in range(40)])
    print(sorted(path.name for path in pathlib.Path().glob("*.txt")))
if __name__ == "__main__":
    asyncio.run(main())
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(list(pool.map(pow, [2, 3], [5, 6])))
"#,
        );
    }
}

#[test]
fn the_standard_library_handles_files_as_ever() {
    if installed(&["python3"]) {
        same(
            r#"
import dbm, fcntl, glob, logging.handlers, mmap, os, pathlib, pickle, shelve, shutil, stat, tempfile, zipfile
import package
print(package.VALUE, os.path.isdir("package/__pycache__"))
with tempfile.TemporaryDirectory(dir=".") as name, tempfile.NamedTemporaryFile(dir=name) as file:
    file.write(b"x"); file.flush()
    print(os.path.getsize(file.name), stat.filemode(os.stat(name).st_mode), stat.filemode(os.stat(file.name).st_mode))
with tempfile.TemporaryFile() as file:
    file.write(b"no name"); file.seek(0)
    print(file.read(), os.fstat(file.fileno()).st_nlink)
with shelve.open("shelf") as shelf:
    shelf["key"] = [1, 2, 3]
with open("locked", "w") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB); fcntl.flock(file, fcntl.LOCK_SH)
handler = logging.handlers.RotatingFileHandler("log", maxBytes=100, backupCount=2)
for number in range(20):
    handler.emit(logging.makeLogRecord({"msg": "line %d" % number}))
handler.close()
directory = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
os.mkdir("made", 0o750, dir_fd=directory)
os.symlink("../log", "made/link", dir_fd=directory)
os.link("log", "made/hard", dst_dir_fd=directory)
os.utime("made/hard", ns=(1, 2 * 10**18 // 3), dir_fd=directory)
os.rename("made/hard", "made/renamed", src_dir_fd=directory)
os.chmod("made/link", 0o640); os.chown("log", -1, os.getgid())
shutil.copytree("made", "copy", symlinks=True); shutil.move("copy", "moved")
shutil.make_archive("archive", "zip", "moved")
print(zipfile.ZipFile("archive.zip").namelist(), sorted(glob.glob("**", recursive=True)))
os.remove("archive.zip"); os.truncate("log", 3); os.replace("log", "made/log"); os.sync()
print([os.access(".", mode) for mode in (os.R_OK, os.W_OK, os.X_OK)], os.statvfs(".").f_namemax, os.getcwd())
os.fchdir(directory); os.removedirs("made/none") if os.path.exists("made/none") else None
print(sorted(os.listdir(directory)), sorted(entry.name for entry in os.scandir("made")))
"#,
        );
    }
}

/// A unix socket has the address that it was bound by, so that others can be told where it is.
#[test]
fn unix_sockets_know_their_addresses() {
    if installed(&["python3"]) {
        let said = same(
            r#"
import multiprocessing, os, socket, tempfile
if __name__ == "__main__":
    directory = tempfile.mkdtemp()
    path = os.path.join(directory, "s")
    server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen()
    client = socket.socket(socket.AF_UNIX); client.connect(path)
    print(server.getsockname() == path, client.getpeername() == path)
    os.mkdir("below"); other = socket.socket(socket.AF_UNIX); other.bind("below/s")
    print(other.getsockname())
    os.unlink("below/s")
    manager = multiprocessing.get_context("fork").Manager()
    shared = manager.dict(); shared[1] = 2; print(dict(shared))
"#,
        );
        assert!(said.contains("True True\nbelow/s\n{1: 2}"), "{said}");
    }
}
