#!/usr/bin/env python3
"""Moves each invoice to archive/YEAR/MONTH by the due date that it states."""
import re
from pathlib import Path

INVOICES = Path("data/invoices")
ARCHIVE = Path("archive")
DUE = re.compile(r"^Due: (\d{4})-(\d\d)-\d\d$", re.MULTILINE)


def destination(invoice: Path):
    match = DUE.search(invoice.read_text(encoding="utf-8"))
    if match is None:
        return None
    year, month = match.groups()
    return ARCHIVE / year / month / invoice.name


moved = 0
for invoice in sorted(INVOICES.glob("*.txt")):
    target = destination(invoice)
    if target is None:
        print("no due date:", invoice.name)
        continue
    target.parent.mkdir(parents=True, exist_ok=True)
    invoice.rename(target)
    moved += 1
print(f"{moved} moved")
