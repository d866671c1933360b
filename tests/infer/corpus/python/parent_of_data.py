"""Shows which settings the data directory belongs to (they stand beside it)."""
import json
import pathlib

DATA = pathlib.Path("./data")
CONFIG = DATA / ".." / "config"


def describe(path: pathlib.Path) -> str:
    if path.suffix == ".json":
        return ", ".join(json.loads(path.read_text()))
    return f"{len(path.read_text().splitlines())} lines"


for path in sorted(CONFIG.iterdir()):
    print(f"{path.name:<22}{describe(path)}")
