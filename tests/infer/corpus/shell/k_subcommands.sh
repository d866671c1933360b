#!/usr/bin/env bash
# usage: k_subcommands.sh [count|cities|newest]
set -euo pipefail

table=./data/customers.csv

rows() { tail -n +2 "$table"; }

cmd_count()  { rows | wc -l; }
cmd_cities() { rows | cut -d, -f4 | sort | uniq -c | sort -rn; }
cmd_newest() { rows | sort -t, -k5 -r | head -n 1 | cut -d, -f2; }
cmd_help()   { sed -n 's/^# usage: /usage: /p' "$0"; }

main() {
  local name=${1:-cities}
  if declare -F "cmd_$name" > /dev/null; then
    shift || true
    "cmd_$name" "$@"
  else
    echo "no such command: $name" >&2
    cmd_help >&2
    return 2
  fi
}

main "$@"
