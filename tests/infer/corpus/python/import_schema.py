"""Builds a fresh database from the schema."""
import os
import sqlite3

SCHEMA = os.path.join(os.curdir, "data", "schema.sql")
BUILD = "build"


class Database:
    """A database that is made anew each time."""

    path = os.path.join(BUILD, "shop.sqlite")

    def __enter__(self):
        os.makedirs(BUILD, exist_ok=True)
        if os.path.exists(self.path):
            os.remove(self.path)
        self.connection = sqlite3.connect(self.path)
        return self.connection

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.connection.commit()
        self.connection.close()
        return False


with Database() as database, open(SCHEMA) as schema:
    database.executescript(schema.read())
    print(database.execute("SELECT count(*) FROM product").fetchone()[0], "products")
