#!/bin/sh
# Says good day, by the hour.
set -eu

hour=$(date +%H)
name=${1:-world}

case $hour in
  0[0-9] | 1[01]) part=morning ;;
  1[2-7]) part=afternoon ;;
  *) part=evening ;;
esac

printf 'Good %s, %s.\n' "$part" "$name"
