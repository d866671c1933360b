"""Bytes served on each of the first days of May."""
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

LOGS = Path("data/logs")
FIRST = date(2024, 5, 1)
DAYS = 4


def log_of(day):
    return LOGS / f"access-{day:%Y-%m-%d}.log"


def traffic(path):
    status = Counter()
    total = 0
    for line in path.read_text().splitlines():
        *_, code, size = line.split()
        status[code[0] + "xx"] += 1
        total += int(size)
    return total, status


for offset in range(DAYS):
    day = FIRST + timedelta(days=offset)
    try:
        total, status = traffic(log_of(day))
    except FileNotFoundError:
        print(f"{day}  no log")
        continue
    print(f"{day}  {total:>8}  {dict(status)}")
