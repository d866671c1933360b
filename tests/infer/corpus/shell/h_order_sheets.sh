#!/usr/bin/env bash
# A text sheet for each order, for the printer, in build/sheets.
set -euo pipefail
shopt -s nullglob

sheets=build/sheets
mkdir -p "$sheets"

render() {
  jq -r '"Order \(.order) for customer \(.customer)",
         (.lines[] | "  \(.qty) x \(.sku) at \(.price)")' "$1"
}

count=0
for order in data/orders/order-*.json; do
  name=$(basename "$order" .json)
  render "$order" > "$sheets/${name#order-}.txt"
  count=$((count + 1))
done
echo "$count sheets"
