#!/usr/bin/env bash
# Runs each hook of a directory: every executable that the project puts there.
set -euo pipefail

run_hooks() {
  local dir=$1 hook
  for hook in "$dir"/h*; do
    [[ -x $hook ]] || continue
    "$hook"
  done
}

run_hooks ./scripts
