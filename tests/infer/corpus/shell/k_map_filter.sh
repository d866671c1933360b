#!/usr/bin/env bash
# Functions as values in the shell: map, keep and fold take the name of what they call.
set -u

map()  { local f=$1 line; while read -r line; do "$f" "$line"; done; }
keep() { local f=$1 line; while read -r line; do if "$f" "$line"; then printf '%s\n' "$line"; fi; done; }
fold_lines() {
  local f=$1 acc=$2 line
  while read -r line; do acc=$("$f" "$acc" "$line"); done
  printf '%s\n' "$acc"
}

square()  { echo $(( $1 * $1 )); }
is_even() { (( $1 % 2 == 0 )); }
add()     { echo $(( $1 + $2 )); }
# Would be called where somebody wrote "map rm".
rm()      { echo "not removing $1"; }

numbers() { printf '%s\n' {1..10}; }

echo "sum of even squares: $(numbers | map square | keep is_even | fold_lines add 0)"
printf '%s\n' /etc/passwd / | map rm
