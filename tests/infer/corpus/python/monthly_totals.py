#!/usr/bin/env python3
"""Totals of the sales table, month by month.

Reads ./data/sales.csv and prints a table. Writing the result to a file
(open("totals.csv", "w")) was removed in March; pipe the output instead.
"""
import csv
from collections import defaultdict
from datetime import date

SALES = "./data/sales.csv"


def load(path):
    with open(path, newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle):
            yield {
                "date": date.fromisoformat(row["date"]),
                "amount": int(row["quantity"]) * float(row["unit_price"]),
            }


def by_month(rows):
    totals = defaultdict(float)
    for row in rows:
        totals[row["date"].strftime("%Y-%m")] += row["amount"]
    return dict(sorted(totals.items()))


def main():
    totals = by_month(load(SALES))
    width = max(len(f"{v:.2f}") for v in totals.values())
    for month, value in totals.items():
        print(f"{month}  {value:>{width}.2f}")
    print(f"total    {sum(totals.values()):>{width}.2f}")


if __name__ == "__main__":
    main()
