#!/usr/bin/env bash
# Converts the users to CSV beside the original.
set -euo pipefail

src=data/users.json

python3 - "$src" <<'PY'
import csv
import json
import pathlib
import sys

source = pathlib.Path(sys.argv[1])
users = json.loads(source.read_text())
with source.with_suffix(".csv").open("w", newline="") as out:
    writer = csv.writer(out)
    writer.writerow(["id", "name", "active"])
    writer.writerows([u["id"], u["name"], u["active"]] for u in users)
print(len(users), "users converted")
PY
