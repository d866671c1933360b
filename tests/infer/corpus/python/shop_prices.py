"""Prices of the shop's database, opened so that nothing can be changed."""
import sqlite3
from pathlib import Path

DATABASE = Path("data", "shop.db")
QUERY = """
    SELECT name, price FROM product
    WHERE price BETWEEN :low AND :high
    ORDER BY price
"""


def connect() -> sqlite3.Connection:
    return sqlite3.connect(f"file:{DATABASE.as_posix()}?mode=ro", uri=True)


def main() -> None:
    connection = connect()
    try:
        for name, price in connection.execute(QUERY, {"low": 20, "high": 100}):
            print(f"{name}: {price:.2f}")
    finally:
        connection.close()


if __name__ == "__main__":
    main()
