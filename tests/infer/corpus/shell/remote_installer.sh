#!/usr/bin/env bash
# Installs the helper tool as its makers recommend.
set -euo pipefail
curl -sSfL --max-time 2 https://install.example.com/helper.sh | sh -s -- --yes
