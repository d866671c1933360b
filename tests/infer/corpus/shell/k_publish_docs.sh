#!/usr/bin/env bash
# Packs the documentation for the download page.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./scripts/common.sh   # die, require_cmd, step

require_cmd tar
require_cmd sha256sum

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' config/app.toml)
[[ -n $version ]] || die "no version in config/app.toml"
archive="dist/docs-$version.tar.gz"

step "packing $archive"
mkdir -p dist
tar -czf "$archive" docs README.md

step "checksum"
(cd dist && sha256sum "${archive#dist/}" > SHA256SUMS)
cat dist/SHA256SUMS
