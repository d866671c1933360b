#!/bin/sh
# How many files of configuration and logs there are.
set -eu
for dir in /etc /var/log; do
  n=$(find "$dir" -maxdepth 1 -type f 2>/dev/null | wc -l)
  [ "$n" -ge 0 ] && echo "$dir counted"
done
