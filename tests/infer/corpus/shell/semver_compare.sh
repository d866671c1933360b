#!/usr/bin/env bash
# Compares two versions: semver_compare.sh A B prints -1, 0 or 1.
set -euo pipefail

compare() {
  local -a left right
  IFS=. read -ra left <<<"${1#v}"
  IFS=. read -ra right <<<"${2#v}"
  local i
  for i in 0 1 2; do
    if ((${left[i]:-0} < ${right[i]:-0})); then
      echo -1
      return
    elif ((${left[i]:-0} > ${right[i]:-0})); then
      echo 1
      return
    fi
  done
  echo 0
}

check() {
  local got
  got=$(compare "$1" "$2")
  [[ $got == "$3" ]] || { echo "compare $1 $2: $got, wanted $3" >&2; exit 1; }
}

if (($# == 2)); then
  compare "$1" "$2"
else
  check 1.2.3 1.2.3 0
  check v1.10.0 1.9.9 1
  check 0.9 1.0.0 -1
  echo "three comparisons were right"
fi
