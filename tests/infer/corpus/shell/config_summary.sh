#!/bin/sh
# The settings that a new colleague should know.
set -eu

. ./config/settings.env.example

port=$(sed -n 's/^port = //p' config/app.toml)
if [ "$port" != "$APP_PORT" ]; then
  echo "ports differ: $port and $APP_PORT" >&2
  exit 1
fi
echo "$APP_NAME listens on $port and logs $LOG_LEVEL"
