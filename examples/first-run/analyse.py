#!/usr/bin/env python3
"""Analyses ./data/sales.csv, then tries two things that an analysis has no business doing.

Run it with and without Stockade and compare the last lines:

    python3 analyse.py
    stockade run --profile readonly -- python3 analyse.py
"""

import csv
import os
import pwd
from collections import defaultdict


def main():
    with open(os.path.join("data", "sales.csv"), newline="") as file:
        sales = [
            (row["month"], row["shop"], row["product"], int(row["units"]) * float(row["unit_price"]))
            for row in csv.DictReader(file)
        ]
    print_analysis(sales)
    print()
    report("list ~/.ssh", list_keys)
    report("list the home directory", list_home)
    report("write beside this script", write_beside)


def print_analysis(sales):
    by_month, by_shop, by_product = defaultdict(float), defaultdict(float), defaultdict(float)
    for month, shop, product, revenue in sales:
        by_month[month] += revenue
        by_shop[shop] += revenue
        by_product[product] += revenue
    months = sorted(by_month)
    change = by_month[months[-1]] / by_month[months[0]] - 1
    print(f"{len(sales)} sales, {months[0]} to {months[-1]}, revenue {sum(by_month.values()):,.2f}")
    print(f"best shop:    {best(by_shop)}")
    print(f"best product: {best(by_product)}")
    print(f"last month against the first: {change:+.1%}")


def best(revenue_by_name):
    name = max(revenue_by_name, key=revenue_by_name.get)
    return f"{name} ({revenue_by_name[name]:,.2f})"


def home():
    # Not $HOME: under Stockade that is a directory of the run's own.
    return pwd.getpwuid(os.getuid()).pw_dir


def list_keys():
    return f"{len(os.listdir(os.path.join(home(), '.ssh')))} entries"


def list_home():
    return f"{len(os.listdir(home()))} entries"


def write_beside():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "written-by-analyse.txt")
    with open(path, "w") as file:
        file.write("anything\n")
    os.remove(path)
    return "written, and removed again"


def report(what, attempt):
    """Says what came of an attempt; a refusal is no failure of the analysis."""
    try:
        print(f"{what}: allowed: {attempt()}")
    except FileNotFoundError as error:
        print(f"{what}: not there: {error.filename}")
    except OSError as error:
        print(f"{what}: refused: {error.strerror}: {error.filename}")


if __name__ == "__main__":
    main()
