#!/usr/bin/env python3
"""How far past a limit a run comes where no control group counts: memory, disk space and processes.

    tools/benches/limits.py target/release/stockade [MEBIBYTES] [NAME…]

Each program grows as fast as it can in one way, and tells each mebibyte. Storms of processes end by themselves after a
second and a half. Prints a row for each: what it reached, the limit, their ratio, and which limit ended it.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BEGINNING = """
import mmap, os, threading, time
told, size = os.open('told', os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), 1 << 20
some, last = b'x' * size, time.time() + 1.5
def tell(): os.write(told, b'x')
def grow(flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS):
    kept = []
    for _ in range(4000): kept.append(mmap.mmap(-1, size, flags)); kept[-1][:] = some; tell()
def write(file):
    for _ in range(4000): os.write(file, some); tell()
def memory_file(): write(os.memfd_create('file'))
def shared(): grow(mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
def page_tables():
    read = mmap.mmap(-1, 2000 << 30, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)
    for at in range(256 * 4000):
        read[at << 21]
        if at % 256 == 255: tell()
def children(count, work):
    for _ in range(count):
        if os.fork() == 0: work(); os._exit(0)
    time.sleep(6)
def files(prefix, part=some):
    for n in range(4000 * (size // len(part))):
        with open(f'{prefix}{n}', 'wb') as file: file.write(part)
        if (n + 1) % (size // len(part)) == 0: tell()
"""

MEMORY = {
    "one process": "grow()",
    "4 threads": "for _ in range(4): threading.Thread(target=grow).start()",
    "8 children": "children(8, grow)",
    "40 children": "children(40, grow)",
    "a memory file": "memory_file()",
    "8 children's memory files": "children(8, memory_file)",
    "many memory files": "files = []\nfor _ in range(900): files.append(os.memfd_create('a')); os.write(files[-1], some); tell()",
    "shared memory": "shared()",
    "8 children's shared memory": "children(8, shared)",
    "memory files in a socket": (
        "import socket\nsome = some * 8\nsender, receiver = socket.socketpair()\n"
        "for _ in range(200):\n"
        "  file = os.memfd_create('a'); os.write(file, some); socket.send_fds(sender, [b'x'], [file]); os.close(file)\n"
        "  os.write(told, b'x' * 8)\n"
        "time.sleep(3)"
    ),
    "page tables": "page_tables()",
    "a file in /dev/shm": "write(os.open(f'/dev/shm/{os.getpid()}', os.O_CREAT | os.O_RDWR))",
}

DISK = {
    "one file": "write(os.open('one', os.O_CREAT | os.O_RDWR))",
    "files of 1 MiB": "files('f')",
    "files of 64 KiB": "files('f', some[:65536])",
    "8 children's files": "children(8, lambda: files(f'f{os.getpid()}-'))",
    "files that are allocated": (
        "for n in range(200):\n"
        "  with open(f'f{n}', 'wb') as file: os.posix_fallocate(file.fileno(), 0, 20 * size)\n"
        "  os.write(told, b'x' * 20)"
    ),
}

PROCESSES = {
    "fork, and all go on": "while time.time() < last:\n  try: os.fork()\n  except OSError: pass",
    "fork, and all sleep": "while time.time() < last:\n  if os.fork() == 0: time.sleep(2)",
    "threads that sleep": "while time.time() < last: threading.Thread(target=time.sleep, args=(2,)).start()",
}


def threads_of_machine():
    return int(Path("/proc/loadavg").read_text().split()[3].split("/")[1])


def run(stockade, flags, code):
    """Runs a program; what it told, the most threads that the machine had more meanwhile, and the limit that ended it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place, tempfile.NamedTemporaryFile(dir="/var/tmp") as report:
        root = Path(place)
        flags = ["--root", place, "--time-limit", "20s", "--report", report.name, *flags]
        before = most = threads_of_machine()
        running = subprocess.Popen(
            [stockade, "run", *flags, "--", "/usr/bin/python3", "-c", BEGINNING + code],
            cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        while running.poll() is None:
            most = max(most, threads_of_machine())
            time.sleep(0.005)
        told = root / "told"
        return (told.stat().st_size if told.exists() else 0), most - before, json.loads(Path(report.name).read_text()).get("limit")


def main():
    stockade, *rest = sys.argv[1:]
    stockade = Path(stockade).resolve()
    limit = int(rest.pop(0)) if rest and rest[0].isdigit() else 256
    cases = [
        *((name, ["--profile", "workspace", "--memory-limit", f"{limit}M"], code, limit, 0) for name, code in MEMORY.items()),
        *((name, ["--profile", "workspace", "--disk-limit", f"{limit}M"], code, limit, 0) for name, code in DISK.items()),
        *((name, ["--profile", "minimal", "--write", "./"], code, 512, 1) for name, code in PROCESSES.items()),
    ]
    for name, flags, code, most, counts_threads in cases:
        if rest and name not in rest:
            continue
        *reached, ended_by = run(stockade, flags, code)
        reached = reached[counts_threads]
        print(f"{name:28} {reached:6} of {most:4}  {reached / most:5.2f}  {ended_by}", flush=True)


if __name__ == "__main__":
    main()
