#!/bin/sh
# Compresses the old logs of the web server, several at once.
set -eu
find data/logs -name 'access-*.log' -print0 | xargs -0 -n 1 -P 2 gzip --best
find data/logs -name '*.gz' | wc -l
