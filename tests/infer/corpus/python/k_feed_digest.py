"""The three newest entries of the feeds we follow."""
import sys
from operator import attrgetter

import feedparser

FEEDS = {
    "releases": "https://releases.example.com/atom.xml",
    "security": "https://www.example.org/security/feed.rss",
}


def newest(url: str, limit: int = 3) -> list:
    parsed = feedparser.parse(url, agent="digest/1.0")
    if parsed.bozo and not parsed.entries:
        raise ConnectionError(f"{url}: {parsed.bozo_exception}")
    dated = [entry for entry in parsed.entries if "published_parsed" in entry]
    return sorted(dated, key=attrgetter("published_parsed"), reverse=True)[:limit]


def main() -> int:
    failed = 0
    for name, url in FEEDS.items():
        print(f"# {name}")
        try:
            for entry in newest(url):
                print(f"- {entry.title} <{entry.link}>")
        except ConnectionError as error:
            print(error, file=sys.stderr)
            failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
