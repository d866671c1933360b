"""Turns the sales table into one compressed file a column, below /tmp, and reads one back."""
import csv
import gzip
import json
import os
import shutil

SOURCE = "data/sales.csv"
TARGET = "/tmp/stockade-corpus-columns"


def columns(path):
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    return {name: [row[name] for row in rows] for name in rows[0]}


def store(table, folder):
    os.makedirs(folder, exist_ok=True)
    for name, values in table.items():
        with gzip.open(os.path.join(folder, name + ".json.gz"), "wt") as out:
            json.dump(values, out)


def main():
    store(columns(SOURCE), TARGET)
    try:
        with gzip.open(f"{TARGET}/quantity.json.gz", "rt") as back:
            print(sum(map(int, json.load(back))), "pieces")
    finally:
        shutil.rmtree(TARGET, ignore_errors=True)


if __name__ == "__main__":
    main()
