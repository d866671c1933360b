#!/usr/bin/env bash
# Reads the current release number from the first mirror that answers.
set -u

mirrors=(releases.example.com releases.example.net localhost:8123)
path=/ledgerline/CURRENT

fetch() {
  local host=$1 scheme=https
  [[ $host == localhost* ]] && scheme=http
  curl -fsS --max-time 1 "$scheme://$host$path"
}

for mirror in "${mirrors[@]}"; do
  for try in 1 2; do
    if version=$(fetch "$mirror"); then
      echo "$version (from $mirror)"
      exit 0
    fi
    echo "$mirror: try $try failed" >&2
  done
done
exit 4
