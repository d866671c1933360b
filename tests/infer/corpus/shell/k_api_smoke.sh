#!/usr/bin/env bash
# A few requests that must work after each deployment.
here=$(dirname "$0")
. "$here/lib/http.sh"   # http_status URL, http_get URL

BASE=https://shop.example.com/api
failed=0

expect() {
  local wanted=$1 path=$2 got
  got=$(http_status "$BASE$path")
  if [ "$got" = "$wanted" ]; then
    echo "ok      $path"
  else
    echo "FAILED  $path: $got instead of $wanted"
    failed=$((failed + 1))
  fi
}

expect 200 /health
expect 200 /items?limit=1
expect 401 /orders
expect 404 /no-such-thing

http_get "$BASE/version" | tr -d '"{}'
exit "$failed"
