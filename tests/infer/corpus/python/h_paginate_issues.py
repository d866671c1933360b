"""Walks all pages of the open tickets; the server says where the next page is."""
import json
import re
import sys
import urllib.error
import urllib.request

START = "https://tracker.example.com/api/v2/tickets?state=open&per_page=100"
NEXT_LINK = re.compile(r'<([^>]+)>;\s*rel="next"')
MAX_PAGES = 50


def get_page(url):
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    with urllib.request.urlopen(request, timeout=2) as response:
        match = NEXT_LINK.search(response.headers.get("Link", ""))
        return json.load(response), match.group(1) if match else None


def all_tickets():
    url, pages = START, 0
    while url and pages < MAX_PAGES:
        items, url = get_page(url)
        pages += 1
        yield from items


def main():
    try:
        for ticket in all_tickets():
            print(ticket["id"], ticket["title"])
    except (urllib.error.URLError, OSError) as error:
        print("tracker not reachable:", error, file=sys.stderr)
        return 1
    return 0


sys.exit(main())
