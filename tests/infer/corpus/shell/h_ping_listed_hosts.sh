#!/bin/bash
# Asks each host of the list for its status page.
set -u

list=data/hosts.txt
port=8123
down=0

while IFS= read -r host; do
  [ -z "$host" ] && continue
  case $host in \#*) continue ;; esac
  if curl -fs -o /dev/null --max-time 1 "http://$host:$port/status"; then
    echo "up   $host"
  else
    echo "down $host"
    down=$((down + 1))
  fi
done < "$list"

echo "$down down"
[ "$down" -eq 0 ]
