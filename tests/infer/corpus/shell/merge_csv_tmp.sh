#!/usr/bin/env bash
# Splits the sales by region in a temporary directory, and shows how large each part is.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tail -n +2 data/sales.csv | while IFS=, read -r date region rest; do
  echo "$date,$rest" >>"$work/$region.csv"
done

for part in "$work"/*.csv; do
  printf '%-6s %d\n' "$(basename "$part" .csv)" "$(wc -l <"$part")"
done
