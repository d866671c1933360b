#!/bin/sh
# Which settings the service would start with.
set -eu

. ./scripts/lib.sh

# reads ./config/settings.env.example and sets a variable for each line
load_config

show() {
  printf '%-12s %s\n' "$1" "$2"
}

show name "$APP_NAME"
show port "$APP_PORT"
show level "$LOG_LEVEL"

case $LOG_LEVEL in
  debug|info|warn|error) ;;
  *) warn "unknown level: $LOG_LEVEL"; exit 1 ;;
esac
