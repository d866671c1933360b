#!/usr/bin/env bash
# Says who runs this, for the head of a report.
set -euo pipefail
user=${USER:-$(id -un)}
printf 'user has a name: %s\n' "$([[ -n $user ]] && echo yes)"
printf 'shell: %s\n' "${SHELL##*/}" >/dev/null
[[ -d $HOME ]] && echo 'home is there'
