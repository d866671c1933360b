"""Groups a list of links by host and shows where a mirror would store them.

Only names are computed; nothing is fetched and nothing is stored.
"""
import hashlib
import sys
from itertools import groupby
from pathlib import PurePath
from urllib.parse import urljoin, urlsplit

BASE = "https://docs.example.com/guide/"
LINKS = ["install.html", "../api/index.html", "https://cdn.example.net/site.css", "/robots.txt"]
MIRROR_ROOT = PurePath("/srv/mirror")


def storage_path(url):
    parts = urlsplit(url)
    digest = hashlib.sha256(url.encode()).hexdigest()[:8]
    return MIRROR_ROOT / parts.hostname / f"{digest}-{PurePath(parts.path).name}"


links = sys.argv[1:] or LINKS
absolute = sorted((urljoin(BASE, link) for link in links), key=lambda url: urlsplit(url).netloc)
for host, urls in groupby(absolute, key=lambda url: urlsplit(url).netloc):
    print(host)
    for url in urls:
        print("  ", url, "->", storage_path(url))
