#!/usr/bin/env bash
# A table with the translations of a few keys, one column per language.
set -euo pipefail

declare -A catalogue=(
  [de]=data/i18n/de.json
  [en]=data/i18n/en.json
  [fr]=data/i18n/fr.json
)
keys=(greeting farewell cart)
languages=($(printf '%s\n' "${!catalogue[@]}" | sort))

printf '%-10s' key "${languages[@]}"; echo
for key in "${keys[@]}"; do
  printf '%-10s' "$key"
  for language in "${languages[@]}"; do
    printf '%-10s' "$(jq -r --arg k "$key" '.[$k] // "-"' "${catalogue[$language]}")"
  done
  echo
done
