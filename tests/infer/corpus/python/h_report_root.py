"""Counts the events of each kind; LEDGER_DATA moves the data directory."""
import json
import os
from collections import defaultdict

DATA_DIR = os.getenv("LEDGER_DATA", "data")
EVENTS = os.path.join(DATA_DIR, "events.jsonl")


def read_events(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if line:
                yield json.loads(line)


times = defaultdict(list)
for event in read_events(EVENTS):
    times[event["event"]].append(event["ms"])

for kind, values in sorted(times.items()):
    print(f"{kind:<12} {len(values):>4} {sum(values) / len(values):8.1f} ms")
