#!/bin/sh
# Checksums of the documents below a directory (docs, unless another is named), one line each.
set -eu

dir=${1:-docs}

if [ ! -d "$dir" ]; then
  echo "$dir: not a directory" >&2
  exit 1
fi

find "$dir" -type f -name '*.md' -print0 |
  sort -z |
  xargs -0 -r sha256sum |
  while read -r sum name; do
    printf '%.12s  %s\n' "$sum" "${name#"$dir"/}"
  done
