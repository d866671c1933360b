#!/usr/bin/env python3
"""Checks that the templates survive being packed and unpacked again."""
import shutil
import sys
import tempfile
from filecmp import cmp
from pathlib import Path

SOURCE = Path("templates")


def roundtrip(work: Path) -> Path:
    archive = shutil.make_archive(str(work / "templates"), "zip", root_dir=SOURCE)
    target = work / "unpacked"
    shutil.unpack_archive(archive, target)
    return target


def main() -> int:
    bad = 0
    with tempfile.TemporaryDirectory(prefix="roundtrip-") as work:
        target = roundtrip(Path(work))
        for original in sorted(SOURCE.rglob("*")):
            if not original.is_file():
                continue
            same = cmp(original, target / original.relative_to(SOURCE), shallow=False)
            print("same" if same else "DIFFERS", original)
            bad += not same
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
