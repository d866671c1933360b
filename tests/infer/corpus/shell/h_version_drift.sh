#!/usr/bin/env bash
# Compares the version numbers that different files state.
set -euo pipefail

declare -A found
found[package]=$(jq -r .version package.json)
found[toml]=$(sed -n 's/^version = "\(.*\)"$/\1/p' config/app.toml)
found[image]=$(grep -o 'ledgerline:[0-9.]*' config/deploy.yaml | cut -d: -f2)

reference=${found[package]}
status=0
for place in "${!found[@]}"; do
  if [[ ${found[$place]} != "$reference" ]]; then
    echo "$place says ${found[$place]}, not $reference"
    status=1
  fi
done
(( status == 0 )) && echo "all say $reference"
exit "$status"
