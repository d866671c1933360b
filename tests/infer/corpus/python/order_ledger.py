"""Joins the orders with their customers."""
from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass
class Ledger:
    """Everything below one directory."""

    base: Path
    orders_name: str = "orders"

    @cached_property
    def customers(self) -> dict[int, str]:
        with (self.base / "users.json").open() as source:
            return {user["id"]: user["name"] for user in json.load(source)}

    def orders(self):
        for path in sorted((self.base / self.orders_name).rglob("*.json")):
            yield json.loads(path.read_bytes())

    def totals(self) -> dict[str, float]:
        result: dict[str, float] = {}
        for order in self.orders():
            name = self.customers.get(order["customer"], "unknown")
            result[name] = result.get(name, 0) + sum(line["qty"] * line["price"] for line in order["lines"])
        return result


if __name__ == "__main__":
    ledger = Ledger(Path(".") / "data")
    for name, amount in sorted(ledger.totals().items()):
        print(f"{name:<16}{amount:>9.2f}")
