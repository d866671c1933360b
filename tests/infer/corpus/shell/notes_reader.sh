#!/usr/bin/env bash
# Numbers the open points of the notes, with nothing but the shell.
set -euo pipefail

declare -r notes="${BASH_SOURCE%/*}/data/notes.txt"
n=0
while IFS= read -r line || [[ -n $line ]]; do
  if [[ $line == TODO:* ]]; then
    n=$((n + 1))
    echo "$n. ${line#TODO: }"
  fi
done <"$notes"
