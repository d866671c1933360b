#!/usr/bin/env bash
# Names of the active users, as a list for mail merge.
set -euo pipefail

python3 -c '
import json
with open("data/users.json") as handle:
    print("; ".join(u["name"] for u in json.load(handle) if u["active"]))
'
