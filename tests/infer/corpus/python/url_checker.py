"""Checks whether addresses answer: url_checker.py [URL ...]"""
import sys

import requests

DEFAULT = ["http://localhost:8123/"]


def check(url: str) -> tuple[bool, str]:
    try:
        response = requests.head(url, timeout=2, allow_redirects=True)
    except requests.exceptions.RequestException as error:
        return False, type(error).__name__
    return response.ok, str(response.status_code)


results = [(url, *check(url)) for url in sys.argv[1:] or DEFAULT]
for url, good, detail in results:
    print(f"{'ok  ' if good else 'FAIL'} {url} {detail}")
sys.exit(not all(good for _, good, _ in results))
