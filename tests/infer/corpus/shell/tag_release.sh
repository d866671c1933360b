#!/usr/bin/env bash
# Makes a repository of the tree, records it and tags the version. For the first release only.
set -euo pipefail

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' config/app.toml)

git init --quiet --initial-branch=main .
git add CHANGELOG.md config
git -c user.name=Release -c user.email=release@example.com commit --quiet -m "Release $version"
git tag "v$version"
git describe --tags
