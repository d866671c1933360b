#!/usr/bin/env python3
"""Which orders are above the limit for refunds that need no manager."""
from __future__ import annotations

import json
from pathlib import Path

from helpers import load_config, money

ORDERS = Path(__file__).parent / "data" / "orders"


def order_total(order: dict) -> float:
    return sum(line["qty"] * line["price"] for line in order["lines"])


def above(limit: float):
    for path in sorted(ORDERS.glob("order-*.json")):
        order = json.loads(path.read_text())
        total = order_total(order)
        if total > limit:
            yield order["order"], total


def main() -> None:
    # config/app.toml, with the defaults of the service where a key is missing
    config = load_config()
    limit = float(config.get("refunds", {}).get("limit", 250))
    for number, total in above(limit):
        print(f"{number}: {money(total)}")


if __name__ == "__main__":
    main()
