#!/usr/bin/env bash
# Goes through config/deploy.yaml and calls a handler for each key that has one.
set -euo pipefail

declare -A handlers=(
  [service]=remember_service
  [replicas]=scale
  [image]=pin_image
)

service=unknown

remember_service() { service=$1; }
scale()            { echo "$service: $1 replicas"; }
pin_image() {
  mkdir -p deploy
  printf 'FROM %s\n' "$1" > deploy/Dockerfile
  echo "$service: pinned ${1##*/}"
}

while IFS=': ' read -r key value; do
  handler=${handlers[${key:-none}]:-}
  if [[ -n $handler && -n $value ]]; then
    "$handler" "$value"
  fi
done < config/deploy.yaml
