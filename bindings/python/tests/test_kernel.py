"""The start of a confined kernel, which runs outside of every confinement in the notebook's directory."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import List
from unittest import mock

from stockade.kernel import kernelspec

from .place import PlaceTest


class Starting(PlaceTest):
    def setUp(self) -> None:
        super().setUp()
        self.marker = self.home / "marker"
        for name in ("ipaddress", "json", "argparse", "tempfile", "os", "stockade/__init__", "stockade/kernel", "sitecustomize"):
            self.file(f"{name}.py", f"open({str(self.marker)!r}, 'w').write(__file__)\n")

    def started(self, line: List[str], path: str = "") -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(one for one in (path, os.environ.get("PYTHONPATH")) if one)}
        return subprocess.run(line, cwd=self.root, env=environment, capture_output=True, text=True)

    def words(self) -> List[str]:
        line: List[str] = kernelspec(["--profile=filesystem"], "x")["argv"]
        return [str(self.root / "absent.json") if word == "{connection_file}" else word for word in line]

    def test_no_module_of_the_notebooks_directory_is_imported(self) -> None:
        told = self.started(self.words())
        self.assertEqual(told.returncode, 125, told.stderr)
        self.assertIn("can't read the connection file", told.stderr)
        self.assertFalse(self.marker.exists())
        # That they would be, by what `-m` does.
        self.started([sys.executable, "-c", "import ipaddress"])
        self.assertTrue(self.marker.exists())

    def test_a_search_path_of_the_users_that_leads_there_does_not_count(self) -> None:
        for name in ("sitecustomize.py", "os.py"):  # which Python loads before anything of the package
            (self.root / name).unlink()
        told = self.started(self.words(), str(self.root))
        self.assertIn("can't read the connection file", told.stderr)
        self.assertFalse(self.marker.exists())

    def test_an_empty_search_path_of_the_users_does_not_come_to_the_start(self) -> None:
        with mock.patch.dict(os.environ, {"PYTHONPATH": f"{os.pathsep}/x{os.pathsep}y{os.pathsep}."}):
            self.assertEqual(kernelspec([], "x")["env"], {"PYTHONPATH": "/x"})

    def test_a_kernelspec_of_before_is_refused(self) -> None:
        for path in self.root.rglob("*.py"):
            path.unlink()
        told = self.started([sys.executable, "-m", "stockade.kernel", "start", "-f", "absent.json"])
        self.assertEqual(told.returncode, 125, told.stderr)
        self.assertIn("hint: install the kernel anew", told.stderr)
