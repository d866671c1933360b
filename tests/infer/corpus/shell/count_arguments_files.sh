#!/bin/sh
# Counts the characters of each file that is named.
set -eu
[ $# -gt 0 ] || set -- data/notes.txt
for file; do
  printf '%s: %s\n' "$file" "$(wc -m <"$file" | tr -d ' ')"
done
