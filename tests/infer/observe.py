#!/usr/bin/python3
"""Runs the scripts of a labels file under strace and says which profile each of them needed.

    observe.py [--tsx LOADER] LABELS.toml [NAME ...]

Each runnable script runs as its label promises: in a fresh copy of `corpus/root`, without arguments, with an empty HOME
and with a network that has nothing but loopback. One line of JSON a script: what it touched, and `least`, the least
profile by the table of the corpus. What no trace shows is taken from the label: its variables, and a `"*"` among reads,
writes and hosts (what the caller names). Exit code 1 where `exit` or `least` differ from a label. A script whose label
says `hard` may have needed less than the label says, never more.
"""

import argparse
import json
import os
import pwd
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
INTERPRETERS = {".py": ["/usr/bin/python3"], ".js": ["node"], ".mjs": ["node"], ".cjs": ["node"]}
BASE = set(re.findall(r'entry\("([^"]+)"', (REPOSITORY / "src/policy/base.rs").read_text()))
# What interpreters and libraries read for themselves: limits of memory, links of the loader, the streams by name.
THEIR_OWN = {"/sys/fs/cgroup", "/proc/self", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/pts"}
NAME_LOOKUP = {"/etc/hosts", "/etc/resolv.conf", "/etc/gai.conf"}
LIMITED = {"HOME", "PATH", "USER", "SHELL", "LOGNAME"}
ALWAYS = re.compile(r"LANG|LC_\w+|TZ|TERM|PWD|OLDPWD")
OPENING = {"open", "openat", "openat2", "creat"}
CHANGING = re.compile(
    r"mkdir|rmdir|unlink|rename|link|symlink|f?chmod|l?f?chown|utime|futimesat|utimensat|truncate|mknod|l?f?(set|remove)xattr"
)
LINE = re.compile(r"(?P<pid>\d+) +(?P<call>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+|\?)")
PLACE = re.compile(r'(?:(?:AT_FDCWD|\d+)<(?P<directory>[^>]*)>(?:, )?)?"(?P<path>(?:[^"\\]|\\.)*)"')
ADDRESS = re.compile(r'(?:sin_port|sin6_port)=htons\((\d+)\).*?(?:inet_addr\(|AF_INET6, )"([^"]+)"')


@dataclass
class Touched:
    """What a run touched that isn't free."""

    root: Path
    script: str
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    connects: set[str] = field(default_factory=set)
    listens: set[str] = field(default_factory=set)
    starts: set[str] = field(default_factory=set)
    # What the interpreter in a process may still read for itself: Python's importer lists the script's directory,
    # Node asks package.json which kind of module the script is. Both name them in full, once.
    allowance: dict[str, set[str]] = field(default_factory=dict)

    def started(self, pid: str, program: str, name: str) -> None:
        """A process became another program."""
        self.starts.add(Path(program).name)
        interpreter = Path(program).name
        if interpreter.startswith("python"):
            self.allowance[pid] = {str(self.root)}
        elif interpreter.startswith("node") and not self.script.endswith(".mjs"):
            self.allowance[pid] = {f"{self.root}/package.json"}
        if name == "git":
            self.reads.add(".")  # it looks for its repository there, by stat alone where there is none
        self.read(pid, program, program)

    def read(self, pid: str, path: str, asked: str) -> None:
        """A file or directory was opened for reading, under the name `asked`."""
        allowed = self.allowance.get(pid, set())
        if asked in allowed:
            allowed.discard(asked)
        elif not is_free(path) and path != f"{self.root}/{self.script}":
            self.reads.add(self.shown(path))

    def written(self, path: str) -> None:
        """A file was opened for writing, made, removed or changed."""
        if not is_free(path):
            self.writes.add(self.shown(path))

    def shown(self, path: str) -> str:
        inside = os.path.relpath(path, self.root)
        return path if inside.startswith("..") else inside if inside == "." else f"./{inside}"


def is_free(path: str) -> bool:
    """Whether the path belongs to the base, to the interpreters or to the stream of a process."""
    path = re.sub(r"^/proc/\d+(?=/)", "/proc/self", path)
    ancestors = {path, *map(str, Path(path).parents)}
    return not path.startswith("/") or bool(ancestors & (BASE | THEIR_OWN)) or path.startswith("/tmp/tsx-")


def whole_lines(trace: str) -> Iterator[re.Match[str]]:
    """The calls of a trace, those put together that another process interrupted."""
    begun: dict[str, str] = {}
    for line in trace.splitlines():
        pid = line.split(" ", 1)[0]
        if line.endswith("<unfinished ...>"):
            begun[pid] = line.removesuffix("<unfinished ...>")
            continue
        if resumed := re.match(r"\d+ +<\.\.\. \w+ resumed>", line):
            line = begun.pop(pid, pid + " ") + line[resumed.end() :]
        if call := LINE.match(line):
            yield call


def read_trace(trace: str, touched: Touched, homes: list[str]) -> None:
    """Fills in what the trace shows."""
    calls = list(whole_lines(trace))
    parents = {c["result"]: c["pid"] for c in calls if c["call"] in ("clone", "clone3", "fork", "vfork")}
    directories: dict[str, str] = {}
    for call in calls:
        pid, name, arguments = call["pid"], call["call"], call["arguments"]
        failed = call["result"].startswith("-")
        here = directories.setdefault(pid, directories.get(parents.get(pid, ""), str(touched.root)))
        places = [
            (os.path.normpath(os.path.join(p["directory"] or here, p["path"])), p["path"])
            for p in PLACE.finditer(arguments)
        ]
        if name in ("chdir", "fchdir") and not failed:
            directories[pid] = places[0][0] if places else arguments.split("<")[1].rstrip(">")
        elif name == "execve" and not failed:
            touched.started(pid, *places[0][:1], Path(arguments.split('["', 1)[1].split('"')[0]).name)
        elif name in OPENING and places:
            path, asked = places[0]
            if path.startswith(tuple(f"{h}/." for h in homes)) and (failed or path.endswith("/.curlrc")):
                continue  # settings of a program, mostly not there; a script that asks there asks for HOME
            if re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", arguments) or name == "creat":
                touched.written(path)
            elif "O_PATH" not in arguments:
                touched.read(pid, path, asked)
        elif CHANGING.match(name):
            for path, _ in places or [(d, "") for d in re.findall(r"^\d+<(/[^>]*)>", arguments)]:
                touched.written(path)
        elif name in ("connect", "sendto", "sendmsg", "bind"):
            for port, host in ADDRESS.findall(arguments):
                (touched.listens if name == "bind" else touched.connects).add(f"{host}:{port}")
    touched.listens.discard("::1:0")  # urllib3 asks so, when it is imported, whether there is IPv6
    if touched.connects:
        touched.reads -= NAME_LOOKUP


def least_profile(touched: Touched, label: dict) -> str:
    """The least profile by the table."""
    reads = touched.reads | {p for p in label.get("reads", []) if p == "*"}
    writes = touched.writes | {p for p in label.get("writes", []) if p == "*"}
    variables = {v for v in label.get("env", []) if not ALWAYS.fullmatch(v)}
    in_temporary = {p for p in reads | writes if p == "/tmp" or p.startswith("/tmp/")}
    network = bool(touched.connects or label.get("hosts") or touched.listens)
    if writes - in_temporary or variables - LIMITED:
        return "trusted"
    computed = "*" in label.get("hosts", []) or touched.listens
    elsewhere = any(not p.startswith(".") for p in reads - in_temporary)
    if variables or computed or elsewhere or network and (reads or writes):
        return "mcp-standard"
    if network:
        return "network-api"
    if any(p != "./data" and not p.startswith("./data/") for p in reads) or writes:
        return "filesystem"
    return "readonly" if reads else "minimal"


def interpreter(script: Path, tsx: str) -> list[str]:
    """What runs the script."""
    if script.suffix == ".sh":
        return ["sh"] if script.read_text().startswith("#!/bin/sh") else ["bash"]
    return INTERPRETERS.get(script.suffix) or ["node", "--import", tsx]


def observe(corpus: Path, label: dict, tsx: str) -> dict:
    """Runs one script and says what it touched."""
    script = corpus / label["file"]
    with tempfile.TemporaryDirectory(prefix="stockade-corpus-", dir="/var/tmp") as place:
        root, home, trace = Path(place, "root"), Path(place, "home"), Path(place, "trace")
        shutil.copytree(corpus / "root", root)
        shutil.copy(script, root)
        home.mkdir()
        command = ["strace", "-f", "-y", "-qq", "-o", str(trace), "-e", "trace=%file,%network,%process,fchdir"]
        command += [*interpreter(script, tsx), f"./{script.name}"]
        user = {"USER": "someone", "LOGNAME": "someone", "SHELL": "/bin/sh", "TERM": "dumb", "LANG": "C.UTF-8"}
        variables = {**user, "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            ended: int | None = subprocess.run(
                command, cwd=root, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=20
            ).returncode
        except subprocess.TimeoutExpired:
            ended = None
        touched = Touched(root, script.name)
        read_trace(trace.read_text(errors="replace"), touched, [str(home), pwd.getpwuid(os.getuid()).pw_dir])
    seen = {k: sorted(getattr(touched, k)) for k in ("reads", "writes", "connects", "listens", "starts")}
    return {"file": label["file"], "exit": ended, **seen, "least": least_profile(touched, label)}


def differs(seen: dict, label: dict) -> bool:
    """Whether the run was another one than the label says."""
    below = {"network-api": ["minimal"], "mcp-standard": ["network-api"]}
    files = ["minimal", "readonly", "filesystem", "mcp-standard", "trusted"]
    less = below.get(label["profile"], []) + files[: files.index(label["profile"])] if label["profile"] in files else below[label["profile"]]
    allowed = [label["profile"], *(less + ["network-api"] * (label["profile"] == "trusted") if label.get("hard") else [])]
    return seen["exit"] != label.get("exit", 0) or seen["least"] not in allowed


def without_network() -> None:
    """Starts this program again where there is no network but loopback, as the same user."""
    if os.environ.get("OBSERVE_ALONE") != "1":
        os.environ["OBSERVE_ALONE"] = "1"
        alone = ["unshare", "--user", "--map-current-user", "--net", "--keep-caps", sys.executable]
        os.execvp("unshare", alone + sys.argv)
    import ctypes
    import fcntl
    import socket

    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING
    ctypes.CDLL(None).prctl(47, 4, 0, 0, 0)  # PR_CAP_AMBIENT_CLEAR_ALL: scripts get none of these capabilities


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labels", type=Path)
    parser.add_argument("names", nargs="*", help="only scripts whose file ends so")
    parser.add_argument("--tsx", default="tsx", help="the loader for TypeScript, a module that node can import")
    asked = parser.parse_args()
    without_network()
    labels = [s for s in tomllib.loads(asked.labels.read_text())["script"] if s.get("runs", True)]
    labels = [s for s in labels if not asked.names or s["file"].endswith(tuple(asked.names))]
    wrong = 0
    with ThreadPoolExecutor(2) as two:
        for label, seen in zip(labels, two.map(lambda s: observe(asked.labels.parent, s, asked.tsx), labels)):
            print(json.dumps(seen), flush=True)
            if differs(seen, label):
                wrong += 1
                print(f"{label['file']}: labelled {label['profile']}, exit {label.get('exit', 0)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
