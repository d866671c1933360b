#!/usr/bin/env python3
"""Prints the roster of active members as a table."""
import json
from pathlib import Path

from tabulate import tabulate

DATA = Path("data")


def active_members() -> list[dict]:
    members = json.loads((DATA / "users.json").read_text(encoding="utf-8"))
    return [member for member in members if member.get("active")]


def main() -> None:
    rows = [(member["id"], member["name"]) for member in active_members()]
    print(tabulate(rows, headers=["ID", "Name"], tablefmt="github"))
    print(f"\n{len(rows)} active")


if __name__ == "__main__":
    main()
