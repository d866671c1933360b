#!/usr/bin/env bash
# Customers by city, with process substitution in place of temporary files.
set -euo pipefail

table=data/customers.csv

body() { tail -n +2 -- "$table"; }

paste -d' ' <(body | cut -d, -f4) <(body | cut -d, -f2 | tr ' ' '_') |
  sort |
  while read -r city name; do
    printf '%-8s %s\n' "$city" "${name//_/ }"
  done
