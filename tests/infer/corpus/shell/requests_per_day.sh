#!/usr/bin/env bash
# Requests and errors per day from the web server's logs.
set -euo pipefail
shopt -s nullglob

dir="data/logs"
for file in "$dir"/access-*.log; do
  day=${file##*/access-}
  day=${day%.log}
  requests=$(wc -l <"$file")
  errors=$(grep -cE '" 5[0-9]{2} ' "$file" || true)
  printf '%s %4d requests %3d errors\n' "$day" "$requests" "$errors"
done
