#!/usr/bin/env bash
# One file per region, in a directory for scratch files.
set -euo pipefail

out=/tmp/stockade-corpus-h-regions
mkdir -p "$out"
trap 'rm -rf "$out"' EXIT

header=$(head -n 1 data/sales.csv)
for region in north south east west; do
  file="$out/$region.csv"
  echo "$header" > "$file"
  grep ",$region," data/sales.csv >> "$file" || true
done

for file in "$out"/*.csv; do
  printf '%-6s %d\n' "$(basename "$file" .csv)" "$(($(wc -l < "$file") - 1))"
done
