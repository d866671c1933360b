#!/usr/bin/env bash
# Turnover by region.
set -euo pipefail

SALES=./data/sales.csv

awk -F, '
  NR > 1 { total[$2] += $4 * $5 }
  END { for (region in total) printf "%-6s %10.2f\n", region, total[region] }
' "$SALES" | sort -k2,2nr
