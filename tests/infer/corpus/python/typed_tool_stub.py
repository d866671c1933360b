"""Describes the tools of a server for its clients. The tools themselves are elsewhere.

Importing the heavy packages is left to type checkers.
"""
from __future__ import annotations

import inspect
import json
import typing

if typing.TYPE_CHECKING:
    import pathlib
    import subprocess

    import requests


def fetch(url: str, session: requests.Session | None = None) -> requests.Response:
    """Gets a page."""
    raise NotImplementedError


def run(command: list[str], *, cwd: pathlib.Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a command."""
    raise NotImplementedError


def described(function: typing.Callable) -> dict:
    signature = inspect.signature(function)
    required = [n for n, p in signature.parameters.items() if p.default is p.empty]
    return {"name": function.__name__, "description": inspect.cleandoc(function.__doc__), "required": required}


print(json.dumps([described(f) for f in (fetch, run)], indent=2))
