"""Asks every page that the release feed links to how large it is."""
import sys
import xml.etree.ElementTree as ET
from http.client import HTTPException, HTTPSConnection
from urllib.parse import urlsplit

FEED = "data/feed.xml"


def links(feed_path):
    tree = ET.parse(feed_path)
    for item in tree.iterfind("./channel/item"):
        yield item.findtext("title"), item.findtext("link")


def page_size(link):
    parts = urlsplit(link)
    connection = HTTPSConnection(parts.netloc, timeout=1)
    try:
        connection.request("HEAD", parts.path or "/")
        return int(connection.getresponse().headers.get("Content-Length", 0))
    finally:
        connection.close()


failures = 0
for title, link in links(FEED):
    try:
        print(f"{title}: {page_size(link)} bytes")
    except (OSError, HTTPException) as error:
        failures += 1
        print(f"{title}: {error}", file=sys.stderr)
sys.exit(1 if failures else 0)
