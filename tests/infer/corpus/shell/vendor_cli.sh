#!/usr/bin/env bash
# Closes the month with the vendor's tool, which isn't ours.
set -euo pipefail

if ! command -v ledgerctl >/dev/null; then
  echo "ledgerctl isn't installed" >&2
  exit 127
fi
month=$(date -d 'last month' +%Y-%m)
ledgerctl close --month "$month" --yes
