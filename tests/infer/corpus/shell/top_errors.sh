#!/bin/sh
# Which part of the application complains most?
set -eu

log_dir=data/logs
level=ERROR

grep -h " $level " "$log_dir/app.log" |
  sed -E 's/^.*\[([a-z]+)\].*$/\1/' |
  sort | uniq -c | sort -rn
