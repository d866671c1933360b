"""Fills the letter template for each customer, in a temporary directory."""
import csv
import string
import tempfile
from pathlib import Path


def letters(template: string.Template, people):
    for number, person in enumerate(people, 1001):
        yield person["id"], template.substitute(name=person["name"], order=number, total=f"{number / 7:.2f} EUR")


def main() -> None:
    template = string.Template(Path("templates/invoice.txt").read_text())
    with open("data/customers.csv", newline="") as table:
        people = list(csv.DictReader(table))
    with tempfile.TemporaryDirectory(prefix="letters-") as folder:
        for identifier, text in letters(template, people):
            (Path(folder) / f"{identifier}.txt").write_text(text)
        written = sorted(p.stat().st_size for p in Path(folder).iterdir())
    print(f"{len(written)} letters, {sum(written)} bytes")


if __name__ == "__main__":
    main()
