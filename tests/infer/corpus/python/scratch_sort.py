"""External merge sort: sorts more numbers than fit in memory (in principle)."""
import heapq
import os
import random
from tempfile import NamedTemporaryFile

CHUNK = 1_000


def spill(numbers):
    with NamedTemporaryFile("w", delete=False, prefix="run-", suffix=".txt") as run:
        run.writelines(f"{n}\n" for n in sorted(numbers))
        return run.name


def external_sort(numbers):
    runs, chunk = [], []
    for n in numbers:
        chunk.append(n)
        if len(chunk) == CHUNK:
            runs.append(spill(chunk))
            chunk = []
    runs.append(spill(chunk))
    handles = [open(name) for name in runs]
    try:
        yield from heapq.merge(*(map(int, handle) for handle in handles))
    finally:
        for handle in handles:
            handle.close()
            os.unlink(handle.name)


source = random.Random(1)
result = list(external_sort(source.randrange(10**6) for _ in range(5_500)))
assert result == sorted(result)
print(len(result), "numbers in order")
