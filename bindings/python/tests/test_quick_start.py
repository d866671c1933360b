"""The quick start of the README: its code prints what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from .place import PlaceTest

README = Path(os.environ.get("STOCKADE_TEST_README", Path(__file__).parents[1] / "README.md"))


class QuickStart(PlaceTest):
    def test_it_prints_what_it_says(self) -> None:
        if not README.exists():
            self.skipTest("the README isn't beside the tests")
        blocks = re.findall(r"```(\w+)\n(.*?)```", README.read_text(), re.DOTALL)
        code = "\n".join(text for language, text in blocks if language == "python")
        expected = "".join(text for language, text in blocks if language == "text")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), (expected, ""))


if __name__ == "__main__":
    unittest.main()
