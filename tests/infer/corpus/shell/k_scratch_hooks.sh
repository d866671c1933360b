#!/usr/bin/env bash
# Works on copies of the logs in a scratch directory; whatever is on the stack of clean-ups runs at the end.
set -euo pipefail

cleanups=()
defer() { cleanups+=("$*"); }
run_cleanups() {
  local i
  for (( i = ${#cleanups[@]} - 1; i >= 0; i-- )); do
    ${cleanups[i]}
  done
}
trap run_cleanups EXIT

scratch=$(mktemp -d)
defer rm -rf "$scratch"
defer echo "cleaning up"

for log in data/logs/access-*.log; do
  cp "$log" "$scratch/"
done

cd "$scratch"
cat access-*.log | awk '{ print $9 }' | sort > codes.txt
uniq -c codes.txt
