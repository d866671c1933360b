#!/usr/bin/env bash
# Lists all projects; each page carries the address of the next one.
set -uo pipefail

url="https://api.example.org/v1/projects?limit=50"
page=0

while [[ -n $url && $url != null ]]; do
  page=$((page + 1))
  if ! body=$(curl -sSf --max-time 2 -H 'Accept: application/json' "$url"); then
    echo "page $page could not be fetched" >&2
    exit 1
  fi
  jq -r '.items[].name' <<< "$body"
  url=$(jq -r '.next' <<< "$body")
done
echo "$page pages"
