#!/usr/bin/env python3
"""Jobs a second: `stockade batch` beside bare subprocesses, in turns, on small Python jobs.

    tools/benches/batch.py [--jobs 2000] [--at-once 2] [--rounds 4] [--profile minimal] [STOCKADE]

Each contestant does the same jobs, `at-once` of them at a time, and keeps what they print. The ratio is the rate of
`stockade batch` by that of the bare subprocesses: above 0.5 is the aim. On a busy machine the processor time of a job is
the steadier measure: all processors are in use, so its ratio is about that of the rates on an idle one.
"""

import argparse
import concurrent.futures
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time

CODE = "import sys; print(sum(int(n) ** 2 for n in sys.stdin.read().split()) + {number})"
INPUT = "1 2 3 4 5 6 7 8 9 10"


def bare(numbers, at_once):
    def run(number):
        code = CODE.format(number=number)
        return subprocess.run(["python3", "-c", code], input=INPUT.encode(), capture_output=True, check=True).stdout

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        return [output.decode() for output in pool.map(run, numbers)]


def confined(numbers, at_once, stockade, flags):
    jobs = [{"lang": "python", "code": CODE.format(number=number), "stdin": INPUT} for number in numbers]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        file, results = os.path.join(directory, "jobs.jsonl"), os.path.join(directory, "results.jsonl")
        with open(file, "w") as out:
            out.writelines(json.dumps(job) + "\n" for job in jobs)
        command = [stockade, "batch", "--jobs", str(at_once), "--output", results, *flags, file]
        subprocess.run(command, check=True, cwd=directory)
        with open(results) as lines:
            return [json.loads(line)["stdout"] for line in lines]


def processor_time():
    """Seconds, of this process and all that it has collected."""
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(time.ru_utime + time.ru_stime for time in times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--profile", default="minimal")
    parser.add_argument("stockade", nargs="?", default="target/x86_64-unknown-linux-gnu/release/stockade")
    given = parser.parse_args()
    stockade, flags = os.path.abspath(given.stockade), ["--profile", given.profile]
    each = given.jobs // given.rounds
    took = {"bare": [], "stockade batch": []}
    used = {name: 0.0 for name in took}
    for round in range(given.rounds):
        numbers = range(round * each, (round + 1) * each)
        contestants = [
            ("bare", lambda: bare(numbers, given.at_once)),
            ("stockade batch", lambda: confined(numbers, given.at_once, stockade, flags)),
        ]
        outputs = []
        # In turns, so that whatever else the machine does meets both alike.
        for name, run in contestants if round % 2 == 0 else reversed(contestants):
            began, used_before = time.monotonic(), processor_time()
            outputs.append(run())
            took[name].append(time.monotonic() - began)
            used[name] += processor_time() - used_before
        assert outputs[0] == outputs[1] == [f"{385 + number}\n" for number in numbers]
    rates = {name: each / statistics.median(seconds) for name, seconds in took.items()}
    for name, rate in rates.items():
        cpu = used[name] / (each * given.rounds) * 1000
        turns = ", ".join(f"{each / seconds:.1f}" for seconds in took[name])
        print(f"{name:15} {rate:7.1f} jobs a second ({turns}), {cpu:.2f} ms of processor time each")
    print(f"{'ratio':15} {rates['stockade batch'] / rates['bare']:7.2f}")
    print(f"{'by processor':15} {used['bare'] / used['stockade batch']:7.2f}")


if __name__ == "__main__":
    main()
