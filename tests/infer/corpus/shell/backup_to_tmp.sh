#!/bin/sh
# A backup of configuration and data, checked and thrown away again.
set -eu

ARCHIVE=/tmp/stockade-corpus-backup.tar.gz
trap 'rm -f "$ARCHIVE"' EXIT INT TERM

tar -czf "$ARCHIVE" config data
members=$(tar -tzf "$ARCHIVE" | grep -vc '/$')
echo "$members files in the backup"
