#!/bin/sh
# Lists the helper scripts with the first line of their description.
set -eu

cd "$(dirname "$0")/scripts"
for script in $(ls); do
  summary=$(sed -n '2s/^# *//p' "$script")
  echo "$script: ${summary:-no description}"
done
