#!/bin/sh
# Lets the project's own script write the version.
set -eu
./scripts/stamp.sh
echo stamped
