"""A batch on a cluster of Ray: each task gets a part of the jobs, and runs it with `stockade batch` on its node.

    ray_batch.py JOBS.jsonl RESULTS [FLAG ...]

RESULTS is a directory with a file for each part: a call that was broken off does the parts that are missing. The flags
are those of `stockade batch`. `cat RESULTS/*.jsonl` is in the order of the jobs; `index` counts within a part.
"""

import itertools
import os
import subprocess
import sys

import ray

STOCKADE = os.environ.get("STOCKADE", "stockade")
PART = int(os.environ.get("PART", "500"))
JOBS_AT_ONCE = int(os.environ.get("JOBS_AT_ONCE", "2"))


# Ray starts a task again where its node fails: a part has no effects beyond what its jobs may do.
@ray.remote(num_cpus=JOBS_AT_ONCE, max_retries=3)
def run_part(part, flags):
    """The results of some jobs, as lines."""
    command = [STOCKADE, "batch", "--jobs", str(JOBS_AT_ONCE), *flags, "-"]
    done = subprocess.run(command, input=part, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # 1: some jobs have no answer, which their results say.
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def missing_parts(jobs, results):
    """The parts without results, each with the file that they go to."""
    for number in itertools.count():
        lines = list(itertools.islice(jobs, PART))
        if not lines:
            return
        file = os.path.join(results, f"{number:06}.jsonl")
        if not os.path.exists(file):
            yield file, b"".join(lines)


def keep(file, results):
    """Writes a part's results, all or none."""
    with open(file + ".new", "wb") as new:
        new.write(results)
        new.flush()
        os.fsync(new.fileno())
    os.rename(file + ".new", file)


def main(jobs, results, *flags):
    ray.init()
    os.makedirs(results, exist_ok=True)
    most_open = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)) // JOBS_AT_ONCE)
    with open(jobs, "rb") as lines:
        lines = (line for line in lines if line.strip())
        open_tasks = {}
        for file, part in missing_parts(lines, results):
            open_tasks[run_part.remote(part, flags)] = file
            if len(open_tasks) >= most_open:
                collect(open_tasks, 1)
        collect(open_tasks, len(open_tasks))


def collect(open_tasks, count):
    done, _ = ray.wait(list(open_tasks), num_returns=count) if count else ([], [])
    for task in done:
        keep(open_tasks.pop(task), ray.get(task))


if __name__ == "__main__":
    main(*sys.argv[1:])
