#!/usr/bin/env bash
# Exit code: how many of the services are down.
set -uo pipefail

declare -A services=(
  [api]=https://api.example.com/
  [static]=https://static.example.com/ping
  [local]=http://localhost:8123/
)

down=0
for name in "${!services[@]}"; do
  code=$(curl -so /dev/null -m 2 -w '%{http_code}' "${services[$name]}")
  [[ $code == 200 ]] || down=$((down + 1))
done
echo "$down down"
exit "$down"
