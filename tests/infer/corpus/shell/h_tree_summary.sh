#!/usr/bin/env bash
# tree_summary.sh [DIR]: how many files of each kind are in DIR.
set -euo pipefail

dir=${1:-data}
if [[ ! -d $dir ]]; then
  echo "not a directory: $dir" >&2
  exit 2
fi

kind() {
  local name=${1##*/}
  case $name in
    *.*) echo "${name##*.}" ;;
    *) echo none ;;
  esac
}

find "$dir" -type f | while IFS= read -r file; do
  kind "$file"
done | sort | uniq -c | sort -k1,1nr -k2
