#!/usr/bin/env bash
# Every executable script must begin with a shebang.
set -euo pipefail

status=0
while IFS= read -r -d '' file; do
  first=$(head -c 2 "$file" | tr -d '\0')
  if [[ $first != '#!' ]]; then
    echo "$file: no shebang" >&2
    status=1
  fi
done < <(find . -name '*.sh' -perm -u+x -print0)
exit "$status"
