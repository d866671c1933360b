#!/usr/bin/env bash
# The newest tag of a project's repository, without cloning it.
set -uo pipefail

REPOSITORY=https://github.com/koalaman/shellcheck.git

if ! tags=$(git ls-remote --tags --refs "$REPOSITORY" 2>/dev/null); then
  echo "no answer" >&2
  exit 1
fi
printf '%s\n' "$tags" | sed 's#.*refs/tags/##' | sort -V | tail -n 1
