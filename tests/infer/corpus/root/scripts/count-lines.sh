#!/bin/sh
# Counts the lines of the sources.
set -eu
find src -type f | xargs wc -l
