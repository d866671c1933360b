#!/bin/bash
# How large the database is that the configuration names.
set -eu

config=config/app.toml

setting() { # section key
  awk -F' = ' -v section="[$1]" -v key="$2" '
    /^\[/ { current = $0 }
    current == section && $1 == key { gsub(/"/, "", $2); print $2 }
  ' "$config"
}

database=$(setting database path)
if [ ! -r "$database" ]; then
  echo "cannot read $database" >&2
  exit 1
fi
bytes=$(wc -c < "$database")
magic=$(head -c 15 "$database")
echo "$database: $bytes bytes, $magic"
