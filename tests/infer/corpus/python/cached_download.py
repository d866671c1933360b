"""The catalogue, from a cache in /tmp where it is young enough, otherwise from the API."""
import json
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlretrieve

CACHE = Path("/tmp") / "stockade-corpus-catalogue.json"
MAX_AGE = 3600


def is_fresh(path: Path) -> bool:
    return path.exists() and time.time() - path.stat().st_mtime < MAX_AGE


def catalogue() -> dict:
    if not is_fresh(CACHE):
        CACHE.unlink(missing_ok=True)
        urlretrieve("https://api.example.com/catalogue.json", CACHE)
    return json.loads(CACHE.read_text())


try:
    print(len(catalogue()["items"]), "items")
except URLError:
    print("no catalogue", file=sys.stderr)
    sys.exit(1)
