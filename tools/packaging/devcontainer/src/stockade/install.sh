#!/bin/sh
# Installs `stockade` into a development container, as root, while its image is built. The options are variables here:
#
#   ARCHIVE, SHA256  URL of a release archive, and its hash
#   SOURCE           a checkout to build from
#   PREFIX           where to install (default: /usr/local); not an option
set -eu

prefix=${PREFIX:-/usr/local}
archive=${ARCHIVE:-}
source=${SOURCE:-}

fail() {
    echo "stockade: $1" >&2
    exit 1
}

# The archive may have the program at any depth.
from_archive() {
    [ -n "${SHA256:-}" ] || fail "the option \`sha256\` is missing: an archive is installed only if its hash is known"
    command -v curl >/dev/null || fail "curl is missing"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    curl --fail --silent --show-error --location --output "$work/archive" "$archive"
    echo "$SHA256  $work/archive" | sha256sum --check --quiet || fail "the archive isn't the one with this hash"
    mkdir "$work/tree"
    tar --extract --no-same-owner --file "$work/archive" --directory "$work/tree"
    program=$(find "$work/tree" -type f -name stockade -perm -u+x | head -n 1)
    [ -n "$program" ] || fail "the archive holds no program \`stockade\`"
    mkdir -p "$prefix/bin"
    install -m 755 "$program" "$prefix/bin/stockade"
}

from_source() {
    command -v cargo >/dev/null || fail "cargo is missing: use an image with Rust, or give the option \`archive\`"
    cargo install --locked --path "$source" --root "$prefix"
}

if [ -n "$archive" ]; then
    from_archive
elif [ -n "$source" ]; then
    from_source
else
    fail "give the option \`archive\` with \`sha256\`, or \`source\`"
fi
"$prefix/bin/stockade" --version
