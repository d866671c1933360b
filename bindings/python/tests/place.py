"""A root, a home and a state of a test's own."""

from __future__ import annotations

import os
import shutil
import tempfile
import unittest
from pathlib import Path


class PlaceTest(unittest.TestCase):
    """Not below ``/tmp``, which some profiles open."""

    def setUp(self) -> None:
        self.top = Path(tempfile.mkdtemp(prefix="stockade-test-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        self.root = self.top / "root"
        self.home = self.top / "home"
        self.root.mkdir()
        self.home.mkdir()
        before, here = dict(os.environ), os.getcwd()
        self.addCleanup(os.environ.update, before)
        self.addCleanup(os.environ.clear)
        self.addCleanup(os.chdir, here)
        for name in [name for name in os.environ if name.startswith("XDG_")]:
            del os.environ[name]
        os.environ["HOME"] = str(self.home)
        os.chdir(self.root)

    def file(self, name: str, text: str = "text\n") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
