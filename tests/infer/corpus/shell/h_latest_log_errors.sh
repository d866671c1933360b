#!/usr/bin/env bash
# Shows the failed requests of the newest access log.
set -euo pipefail

log_dir="data/logs"
latest=$(ls -1 "$log_dir"/access-*.log | sort | tail -n 1)
echo "log: $(basename "$latest")"

failed=$(awk '$(NF-1) >= 400 { print $7, $(NF-1) }' "$latest" | sort | uniq -c | sort -rn)
if [[ -z "$failed" ]]; then
  echo "no failures"
else
  echo "$failed"
fi
