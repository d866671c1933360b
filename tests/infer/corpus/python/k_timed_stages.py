"""Stages of a pipeline as generators, registered by a decorator and timed."""
import functools
import time
from typing import Iterable, Iterator

STAGES = []


def stage(order: int):
    def wrap(function):
        @functools.wraps(function)
        def timed(items):
            started = time.perf_counter()
            result = list(function(items))
            timed.seconds = time.perf_counter() - started
            return result

        STAGES.append((order, timed))
        return timed

    return wrap


@stage(2)
def write(items: Iterable[str]) -> Iterator[str]:
    """Doesn't write anything but what the next stage is given."""
    for item in items:
        yield f"out/{item}.html"


@stage(1)
def open(items: Iterable[str]) -> Iterator[str]:  # noqa: A001
    for item in items:
        yield item.strip().lower().replace(" ", "-")


def run(items: list[str]) -> list[str]:
    for _, function in sorted(STAGES, key=lambda pair: pair[0]):
        items = function(items)
    return items


if __name__ == "__main__":
    print("\n".join(run([" Getting Started", "API Reference ", "Change Log"])))
    print("names:", ", ".join(f.__name__ for _, f in sorted(STAGES, key=lambda p: p[0])))
