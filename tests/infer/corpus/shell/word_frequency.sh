#!/usr/bin/env bash
# The most frequent words of a text that stands in this script.
set -euo pipefail

text=$(cat <<'TEXT'
The rain fell on the roof and the rain fell on the road
and nobody on the road saw who was on the roof
TEXT
)

printf '%s\n' "$text" |
  tr '[:upper:]' '[:lower:]' |
  tr -s ' ' '\n' |
  sort |
  uniq -c |
  sort -k1,1nr -k2 |
  head -n 3 |
  awk '{ printf "%-6s %d\n", $2, $1 }'
