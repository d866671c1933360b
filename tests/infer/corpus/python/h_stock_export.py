#!/usr/bin/env python3
"""Exports the stock as CSV: h_stock_export.py [OUTPUT]"""
import configparser
import csv
import sys
from pathlib import Path

DEFAULT_OUTPUT = "/tmp/stockade-corpus-h-stock.csv"


def stock(path="data/inventory.ini"):
    parser = configparser.ConfigParser()
    parser.read(path, encoding="utf-8")
    return [(name, int(count)) for name, count in parser["stock"].items()]


def export(rows, output: Path):
    with output.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["item", "count"])
        writer.writerows(rows)


def main(args):
    output = Path(args[0] if args else DEFAULT_OUTPUT)
    rows = stock()
    export(rows, output)
    print(f"{len(rows)} rows written to {output}")


main(sys.argv[1:])
