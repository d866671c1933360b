#!/usr/bin/env bash
# The newest section of the changelog, for the release page.
set -euo pipefail

section() {
  local file=$1 found=
  while IFS= read -r line; do
    case $line in
      '## '*)
        [[ -z $found ]] || return 0
        found=yes
        ;;
    esac
    [[ -z $found ]] || printf '%s\n' "$line"
  done <"$file"
}

section CHANGELOG.md
