#!/usr/bin/env bash
# Writes the customer summary; REPORT_DIR says where to.
set -euo pipefail

target=${REPORT_DIR:-/tmp/stockade-corpus-h-reports}
stamp=$(date +%F)
report="$target/customers-$stamp.txt"

mkdir -p "$target"
{
  echo "Customers per city"
  tail -n +2 data/customers.csv | cut -d, -f4 | sort | uniq -c | sort -rn
} > "$report"

echo "$(wc -l < "$report") lines"
rm -f "$report"
rmdir "$target" 2>/dev/null || true
