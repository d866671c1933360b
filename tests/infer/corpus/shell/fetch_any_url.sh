#!/usr/bin/env bash
# Title of a page: fetch_any_url.sh [URL]
set -euo pipefail
url=${1:-https://example.org/}
curl -sSfL -m 2 -- "$url" | grep -io '<title>[^<]*' | cut -d'>' -f2
