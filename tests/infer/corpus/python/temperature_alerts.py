"""Which sensors were outside of their limits.

The limits are in data/settings.json. Mail was sent to ops@example.com by the old version (smtplib); this one prints.
"""
import csv
import json
from contextlib import contextmanager
from os import path
from typing import Any

HERE = "."
NAMES = {"settings": "settings.json", "values": "temperatures.tsv"}


@contextmanager
def resource(kind: str):
    """Opens one of the known files."""
    handle = open(path.join(HERE, "data", NAMES[kind]), encoding="utf-8")
    try:
        yield handle
    finally:
        handle.close()


def send_mail(subject: str, to: str = "ops@example.com") -> None:
    """Kept for compatibility; prints."""
    print(f"to {to}: {subject}")


def main() -> None:
    with resource("settings") as handle:
        settings: dict[str, Any] = json.load(handle)
    low, high = settings["limits"]["low"], settings["threshold"] * 2
    with resource("values") as handle:
        for row in csv.DictReader(handle, delimiter="\t"):
            value = float(row["value"])
            if not low <= value <= high:
                send_mail(f"{row['sensor']} was at {value} on {row['time'][:10]}")


main()
