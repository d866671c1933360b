"""Prints what a migration would do. `--apply` isn't implemented yet."""
import os.path
import posixpath
from pathlib import PurePosixPath

LEGACY = ["/srv/app/config.ini", "/srv/app/users/ada.json", "/home/deploy/.ssh/id_ed25519", "/etc/app/app.conf"]
TARGET = PurePosixPath("/opt/ledgerline")
APPLY = False


def destination(path: str) -> PurePosixPath:
    base, extension = posixpath.splitext(os.path.basename(path))
    folder = {".ini": "config", ".conf": "config", ".json": "users"}.get(extension, "other")
    return TARGET / folder / f"{base}{extension or '.dat'}"


def move(source: str, target: PurePosixPath) -> None:
    if APPLY:
        raise NotImplementedError("the migration is only planned")
    print(f"would move {source} to {target}")
    # shutil.move(source, target)
    # os.chmod(target, 0o640)


for path in LEGACY:
    move(path, destination(path))
