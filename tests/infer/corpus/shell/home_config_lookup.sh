#!/usr/bin/env bash
# The user's settings, where there are any.
set -euo pipefail

rc=~/.config/ledgerline/rc
colour=auto
if [[ -r $rc ]]; then
  while IFS='=' read -r key value; do
    [[ $key == colour ]] && colour=$value
  done <"$rc"
fi
echo "colour=$colour"
