#!/usr/bin/env bash
# A skeleton for scripts with options. Replace main() by something useful.
set -Eeuo pipefail
trap 'echo "failed in line $LINENO" >&2' ERR

verbose=0
output=/tmp/result.txt # only named; main() doesn't write yet
declare -a inputs=()

while (($#)); do
  case $1 in
    -v | --verbose) verbose=1 ;;
    -o | --output)
      output=$2
      shift
      ;;
    --output=*) output=${1#*=} ;;
    --) shift; inputs+=("$@"); break ;;
    -*) echo "unknown option: $1" >&2; exit 64 ;;
    *) inputs+=("$1") ;;
  esac
  shift
done

main() {
  ((verbose)) && echo "verbose"
  echo "${#inputs[@]} inputs, output would go to $output"
}

main
