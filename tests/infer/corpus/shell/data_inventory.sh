#!/bin/sh
# How many files of each kind there are among the data.
set -eu
find data -type f -name '*.*' | sed 's/.*\.//' | sort | uniq -c | sort -rn | head -n 5
