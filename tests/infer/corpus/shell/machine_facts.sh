#!/bin/sh
# Which machine is this? Only what everybody may know.
set -u
. /etc/os-release
printf 'system:  %s\n' "${ID:-unknown}"
printf 'kernel:  %s\n' "$(uname -s)"
printf 'memory:  %s\n' "$(awk '/^MemTotal/ { print ($2 > 0 ? "known" : "none") }' /proc/meminfo)"
printf 'users:   %s\n' "$(cut -d: -f1 /etc/passwd | grep -c '^root$')"
