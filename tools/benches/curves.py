#!/usr/bin/env python3
"""How the cost of a launch and of an open grow with what a run is given.

    tools/benches/curves.py target/release/stockade [ROUNDS] [NAME…]

Each row has medians of alternating rounds: a launch of `/bin/true` bare and confined, and one open and close of a file, as a
loop in a confined Python tells it. NAME is one of grants, denials, entries, exact, processes, depth, runs.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LOOP = """
import os, sys, time
path, count = sys.argv[1], int(sys.argv[2])
os.close(os.open(path, os.O_RDONLY))
begun = time.perf_counter()
for _ in range(count): os.close(os.open(path, os.O_RDONLY))
print((time.perf_counter() - begun) / count * 1e6)
"""
PROFILE = 'version = 1\nname = "curve"\ndescription = "what grows"\n'
PYTHON = "/usr/bin/python3"
OPENS = 2000


def rule(kind, **keys):
    lines = [f'{key} = "{value}"' for key, value in keys.items()]
    return "\n".join([f"[[{kind}]]", *lines, 'why = "measured"', ""])


class Bench:
    def __init__(self, binary, place, rounds):
        self.binary, self.place, self.rounds = binary, place, rounds
        self.root = place / "root"
        self.root.mkdir()
        (self.root / "file").write_text("x")

    def profile(self, *rules, project=True):
        trees = rule("write", path="./") + rule("exec", path="./") if project else ""
        path = self.place / "curve.toml"
        path.write_text(PROFILE + trees + "".join(rules))
        return ["--profile", str(path)]

    def words(self, flags, command):
        return [self.binary, "run", "--ask", "never", "--audit", "off", "--root", str(self.root), *flags, "--", *command]

    def timed(self, words):
        begun = time.perf_counter()
        done = subprocess.run(words, cwd=self.root, capture_output=True, text=True)
        took = (time.perf_counter() - begun) * 1e3
        if done.returncode != 0:
            sys.exit(f"{words}: {done.stderr}")
        return took, done.stdout

    def opens(self, prefix=()):
        return [*prefix, PYTHON, "-I", "-S", "-c", LOOP, str(self.root / "file"), str(OPENS)]

    def row(self, name, size, flags, inside=lambda command: command, bare_inside=lambda command: command):
        bare, confined, opens = [], [], []
        for _ in range(self.rounds):
            bare.append(self.timed(bare_inside(["/bin/true"]))[0])
            confined.append(self.timed(self.words(flags, inside(["/bin/true"])))[0])
        for _ in range(max(3, self.rounds // 4)):
            opens.append(float(self.timed(self.words(flags, inside(self.opens())))[1].split()[-1]))
        bare, confined = statistics.median(bare), statistics.median(confined)
        print(f"| {name} | {size:,} | {confined:.1f} ms | {confined / bare:.1f} × | {statistics.median(opens):.1f} µs |", flush=True)

    def grants(self):
        for count in [1, 10, 100, 1000]:
            for number in range(count):
                (self.place / f"granted{number}").mkdir(exist_ok=True)
            rules = [rule("read", path=self.place / f"granted{number}") for number in range(count)]
            self.row("grants", count, self.profile(*rules))

    def denials(self):
        for kind, glob in [("paths that are closed", "./closed/x{}"), ("patterns that are", "./**/x{}*")]:
            for count in [10, 100, 1000, 4096]:
                rules = [rule("deny", glob=glob.format(number)) for number in range(count)]
                self.row(kind, count, self.profile(*rules))

    def entries(self, flags=(), name="entries of the tree"):
        made = 0
        for count in [100, 1000, 10_000, 100_000, 1_000_000]:
            for number in range(made, count):
                if number % 500 == 0:
                    (self.root / f"d{number // 500}").mkdir(exist_ok=True)
                (self.root / f"d{number // 500}" / f"f{number}").touch()
            made = count
            self.row(name, count, [*self.profile(), *flags])
        shutil.rmtree(self.root)
        self.root.mkdir()
        (self.root / "file").write_text("x")

    def exact(self):
        self.entries(["--trace", "exact"], "the same, `--trace exact`")

    def processes(self):
        for count in [1, 10, 100, 500]:
            asleep = f"for i in $(seq {count - 1}); do sleep 60 & done; \"$@\"; kill $(jobs -p) 2>/dev/null; exit 0"
            flags = [*self.profile(), "--process-limit", "4096"]
            among = lambda command: ["bash", "-c", asleep, "x", *command]
            self.row("processes of the run", count, flags, among, among)

    def depth(self):
        flags = [*self.profile(), "--exec", self.binary, "--read", str(self.place / "curve.toml")]
        for depth in range(5):
            def inside(command):
                for _ in range(depth):
                    command = [self.binary, "run", "--audit", "off", *flags, "--", *command]
                return command
            self.row("runs around it", depth, flags, inside)

    def runs(self):
        flags = self.profile()
        for count in [1, 10, 50, 200]:
            beside = [
                subprocess.Popen(self.words(flags, ["sleep", "600"]), stdin=subprocess.DEVNULL)
                for _ in range(count - 1)
            ]
            time.sleep(1 + count / 50)
            self.row("runs at once", count, flags)
            for run in beside:
                run.terminate()
            for run in beside:
                run.wait()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    binary = str(Path(sys.argv[1]).resolve())
    rest = sys.argv[2:]
    rounds = int(rest.pop(0)) if rest and rest[0].isdigit() else 20
    all_rows = ["grants", "denials", "entries", "exact", "processes", "depth", "runs"]
    print("| what | how many | launch | over bare | an open |\n|---|---:|---:|---:|---:|")
    for name in rest or all_rows:
        with tempfile.TemporaryDirectory(dir=Path.home(), prefix="curves-") as place:
            getattr(Bench(binary, Path(place).resolve(), rounds), name)()


main()
