"""Prints the guide with its include lines replaced by the files that they name.

An include line looks like  <!-- include: docs/api.md -->  and may not be nested
more than five deep.
"""
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r"^<!--\s*include:\s*(?P<target>\S+)\s*-->$")
MAX_DEPTH = 5


def expand(path: Path, depth: int = 0):
    if depth > MAX_DEPTH:
        raise RecursionError(f"includes nested too deep at {path}")
    for line in path.read_text(encoding="utf-8").splitlines():
        found = INCLUDE.match(line.strip())
        if found:
            yield from expand(Path(found["target"]), depth + 1)
        else:
            yield line


try:
    for line in expand(Path("docs/guide.md")):
        print(line)
except (OSError, RecursionError) as error:
    sys.exit(f"error: {error}")
