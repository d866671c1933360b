#!/bin/bash
# Turnover of each month, for the nightly mail.
set -eu
. ./lib/log.sh

sales=data/sales.csv

rollup() {
  awk -F, 'NR > 1 { month = substr($1, 1, 7); sum[month] += $4 * $5 }
           END { for (month in sum) printf "%s %.2f\n", month, sum[month] }' "$1" | sort
}

log_info "rolling up $sales"
if ! [ -r "$sales" ]; then
  log_error "$sales is missing"
  exit 1
fi

rollup "$sales" | while read -r month total; do
  printf '%-8s %12s\n' "$month" "$total"
done
log_info "done"
