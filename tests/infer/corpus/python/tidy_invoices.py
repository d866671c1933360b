"""Moves the invoices into one folder a year."""
import shutil
from pathlib import Path
from typing import NamedTuple


class Move(NamedTuple):
    source: Path
    target: Path


def plan(folder: Path):
    for path in sorted(folder.glob("*.txt")):
        year = path.stem.split("-")[0]
        yield Move(path, folder / year / path.name)


for move in list(plan(Path("data") / "invoices")):
    move.target.parent.mkdir(exist_ok=True)
    shutil.move(move.source, move.target)
    print(move.source.name, "->", move.target.parent.name)
