#!/usr/bin/env bash
# Mean and deviation of numbers, by a few lines of Python.
set -euo pipefail

numbers=(12 15 11 19 14 13)

python3 - "${numbers[@]}" <<'PY'
import statistics
import sys

values = [float(v) for v in sys.argv[1:]]
print(f"mean {statistics.mean(values):.2f}, deviation {statistics.stdev(values):.2f}")
PY
