#!/usr/bin/env bash
# Puts a command together and runs it.
set -euo pipefail

declare -a options=(-l -w)
tool=w
tool+=c
target="$(printf 'do%s' cs)/guide.md"
command="$tool ${options[*]} < $target"

eval "$command" | awk '{ print $1 " lines, " $2 " words" }'
