#!/usr/bin/env bash
# Tests the order of a deployment with functions in place of the programs.
set -euo pipefail

calls=()
rsync() { calls+=("rsync $*"); }
ssh() { calls+=("ssh $*"); }
curl() { calls+=("curl ${*: -1}"); }
rm() { calls+=("rm $*"); }

deploy() {
  local host=$1
  rsync -a build/ "$host:/srv/app/"
  ssh "$host" systemctl restart app
  curl -fsS https://api.example.com/deployed
  rm -rf build
}

deploy web1.example.com
printf '%s\n' "${calls[@]}"
((${#calls[@]} == 4))
