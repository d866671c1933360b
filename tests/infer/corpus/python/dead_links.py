"""Checks that the relative links between the documents lead somewhere.

Links to https:// addresses aren't followed.
"""
import re
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)\)")


def documents(root: Path):
    yield root / "README.md"
    yield from sorted(root.glob("docs/**/*.md"))


def broken(document: Path):
    for target in LINK.findall(document.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        if not (document.parent / target).exists():
            yield target


def main() -> int:
    bad = [(doc, target) for doc in documents(Path()) for target in broken(doc)]
    for doc, target in bad:
        print(f"{doc}: {target} isn't there", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
