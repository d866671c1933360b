"""Commission of each region's salesperson, from the sales of the year."""
import csv
from collections import defaultdict
from decimal import Decimal

from formatting import align_right, money, percent

RATES = {"north": Decimal("0.030"), "south": Decimal("0.025")}
DEFAULT_RATE = Decimal("0.020")


def turnover_by_region(rows):
    totals = defaultdict(Decimal)
    for row in rows:
        totals[row["region"]] += int(row["quantity"]) * Decimal(row["unit_price"])
    return totals


def main():
    with open("data/sales.csv", newline="") as sales:
        totals = turnover_by_region(csv.DictReader(sales))
    for region in sorted(totals):
        rate = RATES.get(region, DEFAULT_RATE)
        cells = [money(totals[region]), percent(rate), money(totals[region] * rate)]
        print(region.ljust(8), *(align_right(cell, 12) for cell in cells))


if __name__ == "__main__":
    main()
