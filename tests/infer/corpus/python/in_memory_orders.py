"""Orders per customer in an SQLite database that lives only in memory."""
import sqlite3
from contextlib import closing

ORDERS = [("ada", 30.5), ("ben", 12.0), ("ada", 8.25), ("esi", 99.0), ("ben", 3.75)]


def report(connection: sqlite3.Connection) -> list[tuple[str, int, float]]:
    connection.execute("CREATE TABLE orders (customer TEXT, amount REAL)")
    connection.executemany("INSERT INTO orders VALUES (?, ?)", ORDERS)
    return connection.execute(
        "SELECT customer, count(*), sum(amount) FROM orders GROUP BY customer ORDER BY 3 DESC"
    ).fetchall()


with closing(sqlite3.connect(":memory:")) as db:
    for customer, count, total in report(db):
        print(f"{customer:<6}{count:>3}{total:>10.2f}")
