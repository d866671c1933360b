"""A client that is given what opens addresses, so that tests needn't ask anybody."""
import io
import json
import sys
import urllib.error
import urllib.request
from functools import partial


class StatusClient:
    base = "https://status.example.com/api/v2"

    def __init__(self, opener=urllib.request.urlopen, attempts: int = 2):
        self.opener = opener
        self.attempts = attempts

    def get(self, name: str) -> dict:
        for attempt in range(1, self.attempts + 1):
            try:
                with self.opener(f"{self.base}/{name}.json") as answer:
                    return json.load(answer)
            except urllib.error.URLError as error:
                if attempt == self.attempts:
                    raise SystemExit(f"{name}: {error.reason}") from error
                print(f"{name}: again", file=sys.stderr)
        raise AssertionError("no attempts")


def canned(url: str) -> io.BytesIO:
    return io.BytesIO(json.dumps({"url": url, "status": "operational"}).encode())


def selftest() -> None:
    assert StatusClient(opener=canned).get("summary")["status"] == "operational"


if __name__ == "__main__":
    selftest()
    client = StatusClient(partial(urllib.request.urlopen, timeout=2))
    print(client.get("summary")["status"])
