#!/bin/bash
# retry TIMES COMMAND...: for commands that fail now and then.
retry() {
  local times=$1 try
  shift
  for (( try = 1; try <= times; try++ )); do
    if "$@"; then
      return 0
    fi
    echo "attempt $try of $times failed: $1" >&2
  done
  return 1
}

quietly() {
  "$@" 2> /dev/null
}

flaky_check() {
  quietly curl --fail --silent --max-time 2 https://status.example.org/ping
}

if retry 2 flaky_check; then
  echo "status page is up"
else
  echo "status page is down"
  exit 4
fi
