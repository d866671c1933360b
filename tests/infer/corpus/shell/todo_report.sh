#!/usr/bin/env bash
# Open points of the sources, by directory.
set -euo pipefail

for dir in src docs; do
  found=$(grep -rnE 'TODO|FIXME' "$dir" | wc -l)
  printf '%-6s %d\n' "$dir" "$found"
done
