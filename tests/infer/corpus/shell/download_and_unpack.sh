#!/usr/bin/env bash
# Unpacks a release into a temporary directory to look at it.
set -euo pipefail

VERSION=1.3.0
url="https://downloads.example.com/ledgerline-${VERSION}.tar.gz"
dir=$(mktemp -d "/tmp/stockade-corpus-XXXXXX")
cleanup() { rm -rf -- "$dir"; }
trap cleanup EXIT

curl -sSfL -m 2 -o "$dir/release.tar.gz" "$url" || { echo "no download" >&2; exit 1; }
tar -xzf "$dir/release.tar.gz" -C "$dir"
ls "$dir"
