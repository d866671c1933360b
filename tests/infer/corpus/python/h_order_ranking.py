#!/usr/bin/env python3
"""Ranks the orders by their value, largest first."""
import json
import os

ORDERS_DIR = os.path.join("data", "orders")


def load_order(name):
    with open(os.path.join(ORDERS_DIR, name), encoding="utf-8") as handle:
        return json.load(handle)


def value(order):
    return sum(line["qty"] * line["price"] for line in order["lines"])


def main():
    ranking = []
    for name in sorted(os.listdir(ORDERS_DIR)):
        if not name.endswith(".json"):
            continue
        order = load_order(name)
        ranking.append((value(order), order["order"]))
    ranking.sort(reverse=True)
    for place, (total, number) in enumerate(ranking, start=1):
        print(f"{place:>2}. order {number}: {total:9.2f}")


if __name__ == "__main__":
    main()
