#!/usr/bin/env bash
# A retry function with growing pauses, and a flaky command to try it.
set -euo pipefail

retry() {
  local attempts=$1 pause=0.01 n
  shift
  for ((n = 1; n <= attempts; n++)); do
    if "$@"; then
      return 0
    fi
    echo "attempt $n of '$*' failed" >&2
    sleep "$pause"
    pause=0.02
  done
  return 1
}

count=0
flaky() {
  count=$((count + 1))
  ((count >= 3))
}

trap 'echo "ended after $count attempts"' EXIT
retry 5 flaky
