#!/usr/bin/env bash
set -euo pipefail

# Builds a JSON document without jq.
to_json() {
  node -e '
    const [, ...pairs] = process.argv;
    const entries = pairs.map((p) => p.split("=", 2));
    console.log(JSON.stringify(Object.fromEntries(entries)));
  ' "$@"
}

to_json name=ledgerline version=1.3.0
