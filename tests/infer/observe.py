#!/usr/bin/python3
"""Runs the scripts of a labels file under strace and says which profile each of them needed.

    observe.py [--tsx LOADER] LABELS.toml

Each runnable script runs as its label promises: in a fresh copy of `corpus/root`, without arguments, with an empty HOME
and no network but loopback. One line of JSON a script: what it touched, and `least`, the least profile by the table of
the corpus. What no trace shows is taken from the label: variables, and a `"*"` (what the caller names). Exit code 1
where `exit` or `least` differ from a label; where it says `hard`, less may have been needed, never more.
"""

import argparse
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BASE = set(re.findall(r'entry\("([^"]+)"', (REPOSITORY / "crates/policy/src/policy/base.rs").read_text()))
# What interpreters and libraries read for themselves: limits of memory, their own state, streams by name.
THEIR_OWN = {"/sys/fs/cgroup", "/proc/self", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/pts"}
NAME_LOOKUP = {"/etc/hosts", "/etc/resolv.conf", "/etc/gai.conf", "/etc/netsvc.conf", "/etc/svc.conf"}
# What runs TypeScript, wherever it is installed, and its cache.
TSX = re.compile("/node_modules/(tsx|esbuild|@esbuild)/|^/tmp/tsx-")
TSX_ASKS = ("package.json", "tsconfig.json")
KINDS = ("reads", "writes", "connects", "listens", "starts")
LIMITED = {"HOME", "PATH", "USER", "SHELL", "LOGNAME"}
VARIABLES = {"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8", "TERM": "dumb"}
VARIABLES |= {"TSX_DISABLE_CACHE": "1", "USER": "someone", "LOGNAME": "someone", "SHELL": "/bin/sh"}
ORDER = ["minimal", "readonly", "filesystem", "network-api", "mcp-standard", "trusted"]
LINE = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+|\?)")
PLACE = re.compile(r'(?:(?:AT_FDCWD|\d+)<(?P<directory>[^>]*)>, )?"(?P<path>(?:[^"\\]|\\.)*)"')
ADDRESS = re.compile(r'(?:sin_port|sin6_port)=htons\((\d+)\).*?(?:inet_addr\(|AF_INET6, )"([^"]+)"')
OPENING = {"open", "openat", "openat2", "creat"}
CHANGING = re.compile("mk|rmdir|unlink|rename|link|symlink|f?chmod|[lf]?chown|f?utim|truncate|[lf]?(set|remove)xattr")


@dataclass
class Touched:
    """What a run touched that isn't free."""

    root: str
    script: str
    settings: tuple[str, str]
    # What the interpreter may ask for again and again and does without.
    ignored: set[str]
    seen: dict[str, set[str]] = field(default_factory=lambda: {kind: set() for kind in KINDS})
    # What the program in a process reads once for itself, by the name that it uses.
    allowance: dict[str, set[str]] = field(default_factory=dict)

    def start(self, pid: str, path: str) -> None:
        """A process became another program."""
        name = Path(path).name.rstrip("0123456789.")
        self.seen["starts"].add(Path(path).name)
        # Python's importer lists the script's directory, Node asks which kind of module the script is, and find
        # remembers where it began, but does without.
        own = {"python": self.root, "node": f"{self.root}/package.json", "find": "."}
        self.allowance[pid] = {own[name]} if name in own else set()
        if name == "git":
            self.seen["reads"].add(".")  # it looks for its repository, by stat alone where there is none
        self.touch("reads", path)

    def touch(self, kind: str, path: str) -> None:
        """A path was read or changed; paths inside the root are shown as scripts write them."""
        if not is_free(path) and (kind, path) != ("reads", self.script):
            inside = os.path.relpath(path, self.root)
            self.seen[kind].add(path if inside.startswith("..") else inside if inside == "." else f"./{inside}")

    def open(self, pid: str, path: str, name: str, flags: str, failed: bool) -> None:
        """A file was opened, or would have been."""
        if path.startswith(self.settings) and (failed or path.endswith("/.curlrc")):
            return  # a program's own, mostly not there; a script that asks there asks for HOME first
        if re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", flags):
            self.touch("writes", path)
        elif name in self.allowance.get(pid, ()):
            self.allowance[pid].discard(name)
        elif "O_PATH" not in flags and path not in self.ignored:
            self.touch("reads", path)


def is_free(path: str) -> bool:
    """Whether the path is of the base, the interpreters' own, a pipe or a socket."""
    if TSX.search(path):
        return True
    path = re.sub(r"^/proc/\d+(?=/)", "/proc/self", path)
    around = {path, *map(str, Path(path).parents)}
    return not path.startswith("/") or bool(around & (BASE | THEIR_OWN))


def whole_calls(trace: str) -> list[re.Match[str]]:
    """The calls of a trace; one that another process interrupted is put together again."""
    begun, whole = {}, []
    for pid, line in ((line.split(" ", 1)[0], line) for line in trace.splitlines()):
        if line.endswith("<unfinished ...>"):
            begun[pid] = line.removesuffix("<unfinished ...>")
        elif resumed := re.match(r"\d+ +<\.\.\. \w+ resumed>", line):
            whole.append(begun.pop(pid, f"{pid} ") + line[resumed.end() :])
        else:
            whole.append(line)
    return [call for call in map(LINE.match, whole) if call]


def read_trace(trace: str, touched: Touched) -> None:
    """Fills in what the trace shows."""
    calls = whole_calls(trace)
    parents = {c["result"]: c["pid"] for c in calls if c["name"] in ("clone", "clone3", "fork", "vfork")}
    directories: dict[str, str] = {}
    for call in calls:
        pid, name, arguments, failed = call["pid"], call["name"], call["arguments"], call["result"].startswith("-")
        here = directories.setdefault(pid, directories.get(parents.get(pid, ""), touched.root))
        named = list(PLACE.finditer(arguments))
        paths = [os.path.normpath(os.path.join(p["directory"] or here, p["path"])) for p in named]
        if name in ("chdir", "fchdir") and not failed:
            directories[pid] = paths[0] if paths else arguments.split("<")[1].rstrip(">")
        elif name == "execve" and not failed:
            touched.start(pid, paths[0])
        elif name in OPENING and paths:
            touched.open(pid, paths[0], named[0]["path"], "O_CREAT" if name == "creat" else arguments, failed)
        elif CHANGING.match(name):
            for path in paths or re.findall("^[0-9]+<(/[^>]*)>", arguments):
                touched.touch("writes", path)
        elif name in ("connect", "sendto", "sendmsg", "bind"):
            addresses = {f"{host}:{port}" for port, host in ADDRESS.findall(arguments)}
            if name == "bind":
                addresses -= {"0.0.0.0:0", "::1:0"}  # a sender of datagrams; urllib3, which asks whether there is IPv6
            touched.seen["listens" if name == "bind" else "connects"] |= addresses
    touched.seen["reads"] -= NAME_LOOKUP if touched.seen["connects"] else set()


def least_profile(seen: dict[str, set[str]], label: dict) -> str:
    """The least profile by the table."""
    reads = seen["reads"] | {"*"} & set(label.get("reads", []))
    writes = seen["writes"] | {"*"} & set(label.get("writes", []))
    variables = {v for v in label.get("env", []) if not re.fullmatch(r"LANG|LC_\w+|TZ|TERM", v)}
    temporary = {p for p in reads | writes if p == "/tmp" or p.startswith("/tmp/")}
    if writes - temporary or variables - LIMITED:
        return "trusted"
    wide = "*" in label.get("hosts", []) or any(not p.startswith(".") for p in reads - temporary)
    if variables or wide or seen["listens"] or seen["connects"] and (reads or writes):
        return "mcp-standard"
    if seen["connects"]:
        return "network-api"
    if writes or any(p != "./data" and not p.startswith("./data/") for p in reads):
        return "filesystem"
    return "readonly" if reads else "minimal"


@contextmanager
def claimed(script: Path, label: dict):
    """Nobody else runs the script meanwhile: it has fixed names below /tmp, which are removed. The tests take the same lock."""
    left = [p for p in label.get("writes", []) if p.startswith("/tmp/stockade-corpus-")]
    with script.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["rm", "-rf", "--", *left], check=True)
        try:
            yield
        finally:
            subprocess.run(["rm", "-rf", "--", *left], check=True)


def observe(corpus: Path, label: dict, tsx: str) -> dict:
    """Runs one script and says what it touched."""
    script = corpus / label["file"]
    with claimed(script, label), tempfile.TemporaryDirectory(prefix="stockade-corpus-", dir="/var/tmp") as place:
        root, home, trace = Path(place, "root"), Path(place, "home"), Path(place, "trace")
        shutil.copytree(corpus / "root", root)
        shutil.copy(script, root)
        home.mkdir()
        command = ["strace", "-f", "-y", "-qq", "-o", str(trace), "-e", "trace=%file,%network,%process,fchdir"]
        text, tsx_runs = script.read_text(), script.suffix in (".ts", ".tsx")
        own = {".py": ["/usr/bin/python3"], ".sh": ["sh"] if text.startswith("#!/bin/sh") else ["bash"]}
        own |= {suffix: ["node", "--import", tsx] for suffix in (".ts", ".tsx")}
        command += [*own.get(script.suffix, ["node"]), f"./{script.name}"]
        environment, nothing = {"HOME": str(home), **VARIABLES}, subprocess.DEVNULL
        run = subprocess.run(command, cwd=root, env=environment, stdin=nothing, capture_output=True, timeout=30)
        ignored = {f"{root}/{name}" for name in TSX_ASKS if tsx_runs and name not in text}
        touched = Touched(str(root), f"{root}/{script.name}", (f"{home}/.", f"{Path.home()}/."), ignored)
        read_trace(trace.read_text(errors="replace"), touched)
    seen = {kind: sorted(touched.seen[kind]) for kind in KINDS} | {"least": least_profile(touched.seen, label)}
    return {"file": label["file"], "exit": run.returncode, **seen}


def agrees(seen: dict, label: dict) -> bool:
    """Whether the run was as the label says; what is hard to tell may have been labelled higher."""
    below = ["minimal"] if label["profile"] == "network-api" else ORDER[: ORDER.index(label["profile"])]
    allowed = [label["profile"], *(below if label.get("hard") else [])]
    return (seen["exit"], seen["least"] in allowed) == (label.get("exit", 0), True)


def enter_empty_network() -> None:
    """Starts this program again, as the same user, where there is no network but loopback."""
    if not os.environ.get("OBSERVE_ALONE"):
        alone = ["unshare", "--user", "--map-current-user", "--net", "--keep-caps", "sh", "-c"]
        alone += ['PATH=$PATH:/usr/sbin:/sbin ip link set lo up && exec setpriv --ambient-caps=-all "$@"', "sh", sys.executable, *sys.argv]
        os.execvpe(alone[0], alone, {**os.environ, "OBSERVE_ALONE": "1"})


def main() -> int:
    """Observes the scripts, two at once, and names those that differ from their labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--tsx", default="tsx", help="the module that lets node run TypeScript")
    parser.add_argument("--each", type=int, default=1, metavar="N", help="only each Nth script")
    asked = parser.parse_args()
    enter_empty_network()
    scripts, wrong = tomllib.loads(asked.labels.read_text())["script"], []
    labels = [script for script in scripts if script.get("runs", True)][:: asked.each]
    with ThreadPoolExecutor(2) as two:
        for label, seen in zip(labels, two.map(lambda s: observe(asked.labels.parent, s, asked.tsx), labels)):
            print(json.dumps(seen), flush=True)
            if not agrees(seen, label):
                wrong.append(f"{label['file']}: labelled {label['profile']}, exit {label.get('exit', 0)}")
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


sys.exit(main())
