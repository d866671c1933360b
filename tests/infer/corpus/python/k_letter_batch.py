"""Renders a letter for each customer from templates/letter.txt.j2."""
import csv
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

OUT = Path("out") / "letters"

env = Environment(
    loader=FileSystemLoader("templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
)
env.filters["first"] = lambda name: name.split()[0]


def customers(source: str = "data/customers.csv"):
    with open(source, newline="", encoding="utf-8") as handle:
        yield from csv.DictReader(handle)


def main() -> None:
    template = env.get_template("letter.txt.j2")
    OUT.mkdir(parents=True, exist_ok=True)
    count = 0
    for count, customer in enumerate(customers(), start=1):
        target = OUT / f"{int(customer['id']):04}.txt"
        target.write_text(template.render(**customer), encoding="utf-8")
    print(f"{count} letters in {OUT}")


if __name__ == "__main__":
    main()
