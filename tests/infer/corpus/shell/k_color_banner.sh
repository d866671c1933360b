#!/usr/bin/env bash
# Prints the banner that the installer begins with.
set -euo pipefail

# bold, dim, reset
source ./lib/colors.sh

readonly NAME="ledgerline" VERSION="1.3.0"

center() {
  local text=$1 width=$2
  local left=$(( (width - ${#text}) / 2 ))
  printf '%*s%s\n' "$left" '' "$text"
}

rule() {
  local i
  for (( i = 0; i < $1; i++ )); do printf '='; done
  printf '\n'
}

rule 40
bold "$(center "$NAME $VERSION" 40)"
dim "$(center "installs to /opt/$NAME (not yet)" 40)"
rule 40
