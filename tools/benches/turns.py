#!/usr/bin/env python3
"""What launches, opens and judgements cost with each of several builds, which take turns.

    tools/benches/turns.py ROUNDS PROGRAM…

Medians and the least of the time that passed, and of the processor time, in milliseconds. The latter includes Stockade's
children, and on a busy machine it is the steadier one.
"""

import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time


def opens(count, path):
    """The words of a Python that opens a file so many times."""
    text = f"import os\nfor _ in range({count}):\n    os.close(os.open({path!r}, os.O_RDONLY))"
    return ["/usr/bin/python3", "-c", text]


# What is measured, the words after the program, and the share of the rounds.
JOBS = [
    ("`--version`", ["--version"], 1),
    ("launch, `minimal`", ["run", "--", "/bin/true"], 1),
    ("launch, `workspace`", ["run", "--profile", "workspace", "--", "/bin/true"], 1),
    ("20,000 opens, `workspace`", ["run", "--profile", "workspace", "--", *opens(20000, "file")], 10),
    ("20,000 opens of the base", ["run", "--", *opens(20000, "/etc/ld.so.cache")], 10),
    ("`check`", ["check", "--tool", "bash", "--", "git status | head"], 1),
    ("`infer`, 70 lines", ["infer", "script.py"], 1),
]


def once(words, environment):
    """Starts a program without output; returns the time that passed and its processor time."""
    began = time.perf_counter()
    silent = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)]
    process = os.posix_spawn(words[0], words, environment, file_actions=silent)
    _, status, usage = os.wait4(process, 0)
    if os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 125:
        sys.exit(f"{' '.join(words[:4])}: failed ({status})")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


def measure(words, rounds, programs, environment):
    taken = {program: [] for program in programs}
    for turn in range(rounds + 2):
        for program in programs if turn % 2 else programs[::-1]:
            pair = once([program, *words], environment)
            if turn >= 2:
                taken[program].append(pair)
    return taken


def main():
    rounds, programs = int(sys.argv[1]), [os.path.realpath(program) for program in sys.argv[2:]]
    place = tempfile.mkdtemp(dir="/var/tmp", prefix="turns-")
    state = tempfile.mkdtemp(dir="/var/tmp", prefix="turns-state-")
    environment = dict(os.environ, XDG_STATE_HOME=state, XDG_CONFIG_HOME=state)
    pathlib.Path(place, "file").write_text("x" * 4096)
    shutil.copy(__file__, os.path.join(place, "script.py"))
    os.chdir(place)
    print("| | program | passed | least | processor | least |\n|---|---|---:|---:|---:|---:|")
    for name, words, share in JOBS:
        for program, pairs in measure(words, max(3, rounds // share), programs, environment).items():
            numbers = [f(column) * 1000 for column in zip(*pairs) for f in (statistics.median, min)]
            print(f"| {name} | {os.path.basename(program)} |", " | ".join(f"{n:.2f}" for n in numbers), "|", flush=True)
    shutil.rmtree(place)
    shutil.rmtree(state)


main()
