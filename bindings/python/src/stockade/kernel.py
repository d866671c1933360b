"""A kernel for Jupyter whose cells run inside a permission profile.

    python -m stockade.kernel install --profile filesystem

``install`` writes a kernelspec. Its command, ``start``, reads the connection file, and becomes ``stockade run`` with a
plain ``ipykernel`` in it: the kernel gets the connection file and its five ports, and what the profile allows. Interrupts,
restarts and shutdowns are Jupyter's own.
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import os
import sys
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._binary import find_binary
from .errors import StockadeError

#: Reads the notebook's directory, and writes nothing of it.
DEFAULT_PROFILE = "filesystem"

_PORTS = ("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port")


#: The user's settings, history and extensions of IPython stay outside, so it takes a directory of the run's own. A kernel
#: whose parent is 1 watches for no parent: Stockade ends it. Both warnings are about what the sandbox means to close.
_VARIABLES = (
    "IPYTHONDIR=/nonexistent",
    "JPY_PARENT_PID=1",
    "PYTHONWARNINGS=ignore:IPython parent:UserWarning,ignore:Couldn't bind IOPub Pipe:UserWarning",
)


def connection_flags(connection_file: str) -> List[str]:
    """What the kernel needs beside its profile, by its connection file.

    Raises:
        StockadeError: it isn't one of a kernel that listens on loopback ports.
    """
    try:
        with open(connection_file, encoding="utf-8") as file:
            told: Mapping[str, Any] = json.load(file)
        ports = [told[name] for name in _PORTS]
        transport, address = told.get("transport", "tcp"), told.get("ip", "127.0.0.1")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StockadeError(f"can't read the connection file `{connection_file}`: {error!r}") from error
    if transport == "ipc":
        # The sockets are files beside the keys of all kernels: each is granted by its whole name.
        sockets = [f"--write={os.path.abspath(f'{address}-{port}')}" for port in map(_port, ports)]
        # ZeroMQ looks at the machine's interfaces once, and aborts in a run that has no network at all.
        return [*sockets, "--listen=0"]
    if transport != "tcp" or not _is_loopback(address):
        raise StockadeError(
            f"the kernel would listen on `{transport}://{address}`",
            hint="a confined kernel listens on 127.0.0.1 alone; set `KernelManager.ip`",
        )
    return [f"--listen={port}" for port in map(_port, ports)]


def _port(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 65536:
        raise StockadeError(f"the connection file has the port {value!r}")
    return value


def _is_loopback(address: Any) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return bool(address == "localhost")


def command(connection_file: str, flags: Sequence[str], kernel: Sequence[str] = ()) -> List[str]:
    """The command of a confined kernel."""
    path = os.path.abspath(connection_file)
    own = [*flags, f"--read={path}", *connection_flags(path), *(f"--env={one}" for one in _VARIABLES), "--ask=never"]
    words = list(kernel) or [sys.executable, "-m", "ipykernel_launcher"]
    return [find_binary(), "run", *own, "--", *words, "-f", path]


#: What starts a kernel. Jupyter starts it in the notebook's directory, where earlier cells may have written modules: with
#: `-m` that directory would come first in `sys.path`. `sys` and `os` are loaded by then.
_STARTER = (
    "import sys, os; here = os.path.realpath(os.curdir); "
    "sys.path[:] = [one for one in sys.path if one and os.path.realpath(one) != here]; "
    "from stockade.kernel import main; sys.exit(main())"
)


def kernelspec(flags: Sequence[str], display_name: str) -> Dict[str, Any]:
    """The content of ``kernel.json``."""
    return {
        "argv": [sys.executable, "-c", _STARTER, "start", "-f", "{connection_file}", "--", *flags],
        # An empty entry, as `PYTHONPATH=$PYTHONPATH:/x` makes one, is the notebook's directory, and Python loads of it before
        # the first word of the starter.
        "env": {"PYTHONPATH": os.pathsep.join(filter(os.path.isabs, os.environ.get("PYTHONPATH", "").split(os.pathsep)))},
        "display_name": display_name,
        "language": "python",
        # Stockade passes SIGINT on to the kernel.
        "interrupt_mode": "signal",
        "metadata": {"debugger": False},
    }


def install(
    name: str = "stockade",
    flags: Sequence[str] = (),
    *,
    display_name: Optional[str] = None,
    user: bool = True,
    prefix: Optional[str] = None,
) -> str:
    """Installs the kernelspec; returns its directory.

    Raises:
        StockadeError: Stockade doesn't take these flags.
    """
    from jupyter_client.kernelspec import KernelSpecManager

    flags = list(flags) or [f"--profile={DEFAULT_PROFILE}"]
    _try(flags)
    title = display_name or f"Python ({' '.join(flags).replace('--profile=', '')}, Stockade)"
    with tempfile.TemporaryDirectory(prefix="stockade-kernel-") as directory:
        with open(os.path.join(directory, "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(kernelspec(flags, title), file, indent=1)
        os.chmod(directory, 0o755)
        where: Any = KernelSpecManager()
        placed: str = where.install_kernel_spec(directory, name, user=user and prefix is None, prefix=prefix)
    return placed


def _try(flags: Sequence[str]) -> None:
    """Runs nothing under these flags, so that a wrong one is told now and not by a kernel that dies."""
    import subprocess

    line = [find_binary(), "run", *flags, "--ask=never", "--audit=off", "--", sys.executable, "-c", ""]
    ended = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if ended.returncode:
        raise StockadeError(ended.stderr.strip() or f"`stockade run` ended with {ended.returncode}")


def _refuse_modules_of_the_notebook() -> None:
    here = os.path.realpath(os.curdir)
    if any(os.path.realpath(one) == here for one in sys.path):
        raise StockadeError(
            f"`{here}` is in `sys.path`, so modules that a cell wrote there would run outside the sandbox",
            hint="install the kernel anew: `python -m stockade.kernel install`",
        )


def main(words: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m stockade.kernel", description="A confined kernel for Jupyter.")
    tasks = parser.add_subparsers(dest="task", required=True)
    to_install = tasks.add_parser("install", help="install the kernelspec; other flags are those of `stockade run`")
    to_install.add_argument("--name", default="stockade", help="name of the kernelspec [default: stockade]")
    to_install.add_argument("--display-name", help="name that Jupyter shows")
    place = to_install.add_mutually_exclusive_group()
    place.add_argument("--sys-prefix", action="store_true", help="install for this Python alone")
    place.add_argument("--prefix", help="install below this directory")
    place.add_argument("--user", action="store_true", help="install for this user, which is the default")
    to_start = tasks.add_parser("start", help="start the kernel of a connection file")
    to_start.add_argument("-f", dest="connection_file", required=True)
    given, rest = parser.parse_known_args(words)
    flags = [word for at, word in enumerate(rest) if word != "--" or at]
    try:
        if given.task == "start":
            _refuse_modules_of_the_notebook()
            line = command(given.connection_file, flags)
            os.execv(line[0], line)
        prefix = sys.prefix if given.sys_prefix else given.prefix
        placed = install(given.name, flags, display_name=given.display_name, prefix=prefix)
    except StockadeError as error:
        print(f"stockade.kernel: {error}", file=sys.stderr)
        return 125
    print(f"installed `{given.name}` in {placed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
