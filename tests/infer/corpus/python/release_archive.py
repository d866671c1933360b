"""Packs the sources into dist/ledgerline.tar.gz by means of tar."""
import subprocess
from pathlib import Path

DIST = Path("dist")


def pack(name: str, *members: str) -> Path:
    DIST.mkdir(exist_ok=True)
    archive = DIST / f"{name}.tar.gz"
    subprocess.check_call(["tar", "--create", "--gzip", "--file", str(archive), "--sort=name", *members])
    return archive


def main() -> None:
    archive = pack("ledgerline", "src", "README.md")
    listing = subprocess.check_output(("tar", "-tzf", archive), text=True)
    print(f"{archive}: {len(listing.splitlines())} members")


if __name__ == "__main__":
    main()
