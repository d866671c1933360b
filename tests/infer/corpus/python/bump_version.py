"""Raises the version in all files that name it: bump_version.py [major|minor|patch]"""
import json
import re
import sys
from pathlib import Path

CONFIG, PACKAGE = Path("config/app.toml"), Path("package.json")


def bumped(version: str, part: str) -> str:
    numbers = [int(n) for n in version.split(".")]
    index = ("major", "minor", "patch").index(part)
    numbers[index] += 1
    numbers[index + 1 :] = [0] * (2 - index)
    return ".".join(map(str, numbers))


def main(part: str) -> None:
    package = json.loads(PACKAGE.read_text())
    old, new = package["version"], bumped(package["version"], part)
    package["version"] = new
    PACKAGE.write_text(json.dumps(package, indent=2) + "\n")
    text, count = re.subn(rf'(?m)^version = "{re.escape(old)}"', f'version = "{new}"', CONFIG.read_text())
    if count != 1:
        raise SystemExit("the configuration names another version")
    CONFIG.write_text(text)
    print(f"{old} -> {new}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "patch")
