"""Sends the orders of the day to the partner's API."""
import json
import sys
from pathlib import Path

import httpx

ENDPOINT = httpx.URL("https://api.example.com/partner/orders")


def orders():
    for file in sorted(Path("data").joinpath("orders").iterdir()):
        with file.open("rb") as handle:
            yield json.load(handle)


def main() -> int:
    sent = 0
    with httpx.Client(timeout=2) as client:
        for order in orders():
            try:
                client.post(ENDPOINT, json=order).raise_for_status()
            except httpx.HTTPError as error:
                print(f"order {order['order']}: {error.__class__.__name__}; {sent} sent", file=sys.stderr)
                return 1
            sent += 1
    print(f"{sent} orders sent")
    return 0


if __name__ == "__main__":
    sys.exit(main())
