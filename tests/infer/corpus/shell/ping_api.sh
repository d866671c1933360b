#!/bin/sh
# Is the API up?
set -u

URL=https://api.example.com/v1/health

if curl --fail --silent --max-time 2 --output /dev/null "$URL"; then
  echo up
else
  echo down >&2
  exit 1
fi
