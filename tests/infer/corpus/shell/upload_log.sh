#!/bin/sh
# Sends the application's log to the collector, compressed.
set -eu
gzip -c data/logs/app.log |
  curl -sS --max-time 2 -H 'Content-Encoding: gzip' --data-binary @- https://logs.example.com/v1/push
