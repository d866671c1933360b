#!/usr/bin/env bash
# Sets the number of replicas: sed_in_place.sh [N]
set -euo pipefail

replicas=${1:-3}
file=config/deploy.yaml

if ! [[ $replicas =~ ^[0-9]+$ ]]; then
  echo "not a number: $replicas" >&2
  exit 2
fi
sed -i "s/^replicas: .*/replicas: $replicas/" "$file"
grep '^replicas' "$file"
