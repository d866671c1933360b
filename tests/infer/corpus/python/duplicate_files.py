"""Finds files with the same content below the current directory."""
import hashlib
import os
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor


def digest(path: str) -> str:
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def files(top: str):
    with os.scandir(top) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith("."):
                    yield from files(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield entry.path


if __name__ == "__main__":
    paths = sorted(files("."))
    groups = defaultdict(list)
    with ThreadPoolExecutor(max_workers=4) as pool:
        for path, sha in zip(paths, pool.map(digest, paths)):
            groups[sha].append(path)
    for sha, same in groups.items():
        if len(same) > 1:
            print(sha[:12], *same)
    print(len(paths), "files")
