#!/usr/bin/env python3
"""Fetches the package index from the first mirror that answers."""
import sys
import time
from urllib.error import URLError
from urllib.request import urlopen

MIRRORS = ("mirror-eu.example.com", "mirror-us.example.com", "mirror.example.net")
INDEX = "/simple/index.json"
ATTEMPTS = 2


def fetch(host: str, path: str = INDEX) -> bytes:
    url = "https://" + host + path
    delay = 0.05
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urlopen(url, timeout=0.4) as reply:
                return reply.read()
        except (URLError, TimeoutError) as error:
            print(f"{host}: attempt {attempt}: {error}", file=sys.stderr)
            time.sleep(delay)
            delay *= 2
    raise ConnectionError(host)


for mirror in MIRRORS:
    try:
        body = fetch(mirror)
    except ConnectionError:
        continue
    print(f"{mirror}: {len(body)} bytes")
    break
else:
    sys.exit("no mirror answered")
