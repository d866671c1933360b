#!/usr/bin/env bash
# Differences between two catalogues of messages; exit code 1 where there are any.
set -uo pipefail

keys() { grep -o '^ *"[a-z]*"' "data/i18n/$1.json" | tr -d ' "' | sort; }

diff <(keys en) <(keys fr)
