#!/bin/sh
# The version, as the Makefile finds it.
set -e
version=$(make --silent version | cut -d'"' -f2)
echo "building $version (dry run)"
