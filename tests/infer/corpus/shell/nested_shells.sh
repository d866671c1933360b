#!/usr/bin/env bash
# Quotes within quotes: an inner shell counts headings.
set -euo pipefail

count='grep -c "^#" README.md'
headings=$(sh -c "$count")
bash -c 'printf "%s headings\n" "$1"' inner "$headings"
