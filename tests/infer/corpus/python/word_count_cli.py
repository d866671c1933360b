"""Counts lines, words and characters, like wc, of the files that are named (README.md by default)."""
import argparse
import sys
from pathlib import Path


def count(path: Path) -> tuple[int, int, int]:
    text = path.read_text(encoding="utf-8", errors="replace")
    return len(text.splitlines()), len(text.split()), len(text)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*", type=Path, default=[Path("README.md")])
    failed = False
    for path in parser.parse_args().paths:
        try:
            lines, words, characters = count(path)
        except OSError as error:
            print(f"{path}: {error.strerror}", file=sys.stderr)
            failed = True
        else:
            print(f"{lines:>6}{words:>7}{characters:>8} {path}")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
