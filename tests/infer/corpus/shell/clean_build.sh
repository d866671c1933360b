#!/bin/sh
# Removes what the build made.
set -eu

BUILD_DIR=build
mkdir -p "$BUILD_DIR/objects"
for leftover in "$BUILD_DIR" dist config/app.toml.bak; do
  rm -rf -- "./$leftover"
done
echo clean
