"""Runs the checks of a new workstation, in the order of the table."""
import os
import shutil
import sys
from pathlib import Path


def check_python() -> str:
    major, minor = sys.version_info[:2]
    return "ok" if (major, minor) >= (3, 9) else f"{major}.{minor} is too old"


def check_home() -> str:
    home = Path(os.environ["HOME"])
    return "ok" if home.is_absolute() else f"odd: {home}"


def check_tool(name: str):
    def check() -> str:
        return "ok" if shutil.which(name) else "missing"

    return check


CHECKS = [
    ("python", check_python),
    ("home", check_home),
    ("sh", check_tool("sh")),
    ("sort", check_tool("sort")),
]


def main() -> int:
    results = {label: check() for label, check in CHECKS}
    for label, result in results.items():
        print(f"{label:<8} {result}")
    return int(any(result != "ok" for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
