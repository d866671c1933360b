#!/usr/bin/env bash
# Load against the number of processors.
set -euo pipefail
read -r one five fifteen _ </proc/loadavg
processors=$(grep -c '^processor' /proc/cpuinfo)
awk -v load="$five" -v n="$processors" 'BEGIN { exit !(load / n < 1000) }' && echo fine
IFS=. read -r seconds _ </proc/uptime
((seconds > 0)) && echo "one=$one fifteen=$fifteen" >/dev/null
