#!/bin/bash
# Says which daily snapshots would be kept; removes none of them.
set -eu

root=/var/backups/ledgerline
today=2024-06-15
keep_days=3
keep_weeks=2

name_of() {
  printf '%s/%s.tar.gz' "$root" "$(date -u -d "$today - $1 days" +%Y-%m-%d)"
}

for ((day = 0; day < keep_days; day++)); do
  echo "keep   $(name_of "$day")"
done
for ((week = 1; week <= keep_weeks; week++)); do
  echo "weekly $(name_of $((week * 7)))"
done
echo "others would go: rm -f $root/*.tar.gz"
