"""Where the program `stockade` is."""

from __future__ import annotations

import os
import stat
import sys
import sysconfig
from typing import Iterator, Optional

from .errors import StockadeError

#: Names another program, for a build of one's own.
VARIABLE = "STOCKADE_BINARY"


def find_binary() -> str:
    """The program that this package carries, or the one that ``STOCKADE_BINARY`` names.

    ``PATH`` isn't searched first: a program that a project put there must not confine the project.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not _is_program(named):
            raise StockadeError(
                f"`{VARIABLE}` is `{named}`, which isn't a program", hint=f"unset `{VARIABLE}`, or name a build of Stockade"
            )
        return os.path.abspath(named)
    for candidate in _carried():
        if _is_program(candidate):
            return candidate
    raise StockadeError(
        "this installation of the package carries no program `stockade`",
        hint=f"install the wheel of this machine's platform, or set `{VARIABLE}` to a build of Stockade",
    )


def _carried() -> Iterator[str]:
    """The places where an installer puts a wheel's programs."""
    package = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(sysconfig.get_path("scripts"), "stockade")
    if hasattr(sysconfig, "get_preferred_scheme"):
        scheme: Optional[str] = sysconfig.get_preferred_scheme("user")
    else:  # Python 3.9
        scheme = "posix_user"
    if scheme:
        yield os.path.join(sysconfig.get_path("scripts", scheme=scheme), "stockade")
    packages = os.path.dirname(package)
    if not _is_installed(packages):
        return
    # `pip install --target DIR` and `--prefix DIR`.
    yield os.path.join(packages, "bin", "stockade")
    version = os.path.dirname(packages)
    if os.path.basename(packages) in ("site-packages", "dist-packages") and os.path.basename(version).startswith("python"):
        yield os.path.abspath(os.path.join(version, os.pardir, os.pardir, "bin", "stockade"))


def _is_installed(packages: str) -> bool:
    """Whether an installer put this package there: beside one of a source tree, any program may lie."""
    try:
        return any(name.startswith("stockade-") and name.endswith(".dist-info") for name in os.listdir(packages))
    except OSError:
        return False


def _is_program(path: str) -> bool:
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False
    return is_file and os.access(path, os.X_OK)


def main() -> None:
    """``python -m stockade``: becomes the program, with this process's arguments."""
    try:
        program = find_binary()
    except StockadeError as error:
        sys.exit(str(error))
    os.execv(program, ["stockade", *sys.argv[1:]])
