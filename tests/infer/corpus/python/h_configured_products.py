#!/usr/bin/env python3
"""Lists the products in the database that config/app.toml names."""
import sqlite3
import sys
import tomllib
from contextlib import closing
from pathlib import Path


class Settings:
    def __init__(self, path="config/app.toml"):
        with open(path, "rb") as handle:
            self._values = tomllib.load(handle)

    @property
    def database(self) -> Path:
        return Path(self._values["database"]["path"])


def products(database: Path):
    uri = f"file:{database}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        yield from connection.execute("SELECT name, price FROM product ORDER BY price DESC LIMIT 5")


if __name__ == "__main__":
    settings = Settings()
    try:
        for name, price in products(settings.database):
            print(f"{name:<20} {price:8.2f}")
    except sqlite3.OperationalError as error:
        sys.exit(f"cannot read {settings.database}: {error}")
