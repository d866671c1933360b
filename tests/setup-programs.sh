#!/bin/sh
# Installs the programs that tests/programs.rs, tests/page.rs, tests/same_as_bare, tests/daily, tests/network,
# tests/inference and tests/install run, on Debian and its like. Quick when everything is there, and then it needn't be root
# either.
#
#   STOCKADE_TEST_NPM  where the MCP servers, tsx, undici, the formats of clients and what tests/daily installs go
#                      (default: target/test-npm)
#   STOCKADE_TEST_UV   where uv goes (default: target/test-uv)
#   STOCKADE_TEST_PYTHON  where maturin, the packages of the drop-ins and of other formats go (default: target/test-python)
#   STOCKADE_TEST_MCP  where MCP servers in Python and their client library go (default: target/test-mcp)
set -eu
cd "$(dirname "$0")/.."

everything=2026.8.31
fetch=2026.10.24
filesystem=2026.8.31
git=2026.10.19
mcp=2.3.0
mcp_old=1.30.0
memory=2026.8.31
inspector=2.12.0
sdk=1.32.2
client=2.4.0
sqlite=2025.4.25
thinking=2026.8.31
time=2026.10.19
tsx=4.23.15
undici=6.29.1
uv=0.13.9
typescript=5.9.3
types_node=20.19.43
settings_types=1.0.12
agent_types=0.3.332
copilot_types=1.0.14
vscode_api=36.2.7
hook_packages="husky@9.1.7 lint-staged@15.5.2"
ten_packages="@babel/core@7.28.4 axios@1.12.2 eslint@8.57.1 express@4.21.2 fastify@4.29.1 lodash@4.17.21 mocha@10.8.2
prettier@3.6.2 rxjs@7.8.2 webpack@5.101.3"
python_packages="maturin==1.16.0 wheel==0.48.0 smolagents==1.26.0 langchain-core==1.8.3 ipykernel==7.4.0 jupyter_client==8.10.0 mypy==2.4.1
opentelemetry-proto==1.45.2 kubernetes-validate==1.37.0"

npm_directory=${STOCKADE_TEST_NPM:-target/test-npm}
uv_directory=${STOCKADE_TEST_UV:-target/test-uv}
python_directory=${STOCKADE_TEST_PYTHON:-target/test-python}
mcp_directory=${STOCKADE_TEST_MCP:-target/test-mcp}

# What root has at home, in a version manager's directory say, other users' tests can't run.
pythons="python3 /usr/bin/python3 $HOME/.pyenv/versions/*/bin/python3"
if [ "$(id -u)" -eq 0 ]; then
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    pythons=/usr/bin/python3
fi

# A Python with its own tests: any that tests/programs/python.rs looks at.
has_tests() {
    for python in $pythons; do
        if "$python" -c 'import test.test_json, test.test_pathlib, test.test_subprocess, test.test_tempfile' \
            2>/dev/null; then
            return 0
        fi
    done
    return 1
}

packages=
need() { # PROGRAM PACKAGE…
    command -v "$1" >/dev/null || { shift && packages="$packages $*"; }
}
need bash bash
need awk mawk
need git git
need git-lfs git-lfs
need git-filter-repo git-filter-repo
need stg stgit
need hg mercurial
need pre-commit pre-commit
need make make
need gcc gcc libc6-dev
need perl perl
need python3 python3
need sqlite3 sqlite3
need psql postgresql
need tmux tmux
need zsh zsh
need node nodejs
need npm npm
need java default-jdk-headless
need javac default-jdk-headless
need ruby ruby
need go golang-go
need rsync rsync
need rg ripgrep
need vim vim
need zip zip
need unzip unzip
need patch patch
need find findutils
need xargs findutils
need tar tar
need gzip gzip
need script bsdutils
need curl curl
need chromium chromium
need openssl openssl
need musl-gcc musl-tools
need shellcheck shellcheck
need strace strace
need unshare util-linux
need setpriv util-linux
need ip iproute2
[ -x /usr/bin/python3 ] || packages="$packages python3"
for module in requests httpx aiohttp; do
    /usr/bin/python3 -c "import $module" 2>/dev/null || packages="$packages python3-$module"
done
python3 -c 'import ensurepip, venv' 2>/dev/null || packages="$packages python3-venv"
has_tests || tests_missing=yes

if [ -n "$packages${tests_missing:-}" ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "setup-programs: missing:$packages${tests_missing:+ (and Python's own tests)}; run this as root" >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    # shellcheck disable=SC2086 # one word a package
    [ -z "$packages" ] || apt-get install -q -y --no-install-recommends $packages
    if ! has_tests; then
        version=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        apt-get install -q -y --no-install-recommends "libpython$version-testsuite"
    fi
fi

# The pinned version of an npm package is installed.
has_package() { # NAME VERSION
    grep -q "\"version\": \"$2\"" "$npm_directory/node_modules/$1/package.json" 2>/dev/null
}
has_server() { # NAME VERSION
    has_package "@modelcontextprotocol/$1" "$2"
}
if ! { has_server server-everything $everything && has_server server-filesystem $filesystem &&
    has_server server-memory $memory && has_server inspector $inspector && has_server sdk $sdk &&
    has_server client $client && has_server server-sequential-thinking $thinking && has_package tsx $tsx && has_package undici $undici &&
    has_package typescript $typescript && has_package @types/node $types_node; }; then
    mkdir -p "$npm_directory"
    [ -e "$npm_directory/package.json" ] || echo '{ "private": true }' >"$npm_directory/package.json"
    npm install --prefix "$npm_directory" --no-audit --no-fund --ignore-scripts --loglevel=error --save-exact \
        "@modelcontextprotocol/server-everything@$everything" \
        "@modelcontextprotocol/server-filesystem@$filesystem" \
        "@modelcontextprotocol/server-memory@$memory" \
        "@modelcontextprotocol/server-sequential-thinking@$thinking" \
        "@modelcontextprotocol/inspector@$inspector" \
        "@modelcontextprotocol/sdk@$sdk" \
        "@modelcontextprotocol/client@$client" \
        "tsx@$tsx" \
        "undici@$undici" \
        "typescript@$typescript" \
        "@types/node@$types_node"
fi

# Types and schemas that makers of clients publish, without the packages around them: some are large, or bring programs.
formats() { # NAME VERSION FILE…
    directory=$npm_directory/formats/$1
    ! grep -q "\"version\": \"$2\"" "$directory/package.json" 2>/dev/null || return 0
    rm -rf "$directory"
    mkdir -p "$directory"
    archive=$(npm pack --loglevel=error --pack-destination "$directory" "$1@$2")
    shift 2
    tar -xzf "$directory/$archive" -C "$directory" --strip-components=1 "$@" package/package.json
    rm "$directory/$archive"
}
formats @schemastore/claude-code-settings $settings_types package/index.d.ts
formats @anthropic-ai/claude-agent-sdk $agent_types package/sdk.d.ts
formats @github/copilot-sdk $copilot_types package/dist/types.d.ts
workbench=package/vscode/src/vs/workbench
formats @codingame/monaco-vscode-api $vscode_api $workbench/contrib/mcp/common/mcpConfiguration.js \
    $workbench/services/configurationResolver/common/configurationResolverSchema.js \
    $workbench/contrib/chat/common/promptSyntax/promptTypes.js \
    $workbench/contrib/chat/common/promptSyntax/hookTypes.js \
    $workbench/contrib/chat/common/promptSyntax/hookSchema.js

# What tests/daily puts into a repository: hooks for commits, and ten packages from the cache that they leave.
daily() { # NAME PACKAGE@VERSION…
    directory=$npm_directory/daily/$1
    shift
    [ "$(cat "$directory/installed" 2>/dev/null)" != "$*" ] || return 0
    rm -rf "$directory"
    mkdir -p "$directory"
    echo '{ "name": "daily", "version": "1.0.0", "private": true }' >"$directory/package.json"
    npm install --prefix "$directory" --cache "$directory/cache" --no-audit --no-fund --ignore-scripts --loglevel=error \
        --save-exact --no-omit-lockfile-registry-resolved "$@"
    rm -rf "$directory/cache/_logs"
    echo "$*" >"$directory/installed"
}
# shellcheck disable=SC2086 # one word a package
daily hooks $hook_packages
# shellcheck disable=SC2086 # one word a package
daily ten $ten_packages
rm -rf "$npm_directory/daily/hooks/cache" "$npm_directory/daily/ten/node_modules"

if [ "$("$uv_directory/bin/uv" --version 2>/dev/null | cut -d ' ' -f 2)" != "$uv" ]; then
    rm -rf "$uv_directory"
    python3 -m venv "$uv_directory"
    "$uv_directory/bin/pip" install -q --disable-pip-version-check "uv==$uv"
fi

# What `tools/bindings` builds the Python package with, what its drop-ins are for, and what checks the formats of others.
# `ray` is too large for this: `STOCKADE_TEST_PYTHONS` names a Python that has it.
if [ "$(cat "$python_directory/installed" 2>/dev/null)" != "$python_packages" ]; then
    rm -rf "$python_directory"
    python3 -m venv "$python_directory"
    # shellcheck disable=SC2086 # one word a package
    "$uv_directory/bin/uv" pip install -q --python "$python_directory/bin/python" $python_packages
    echo "$python_packages" >"$python_directory/installed"
fi

python_servers="mcp==$mcp mcp-server-fetch==$fetch mcp-server-git==$git mcp-server-time==$time"
old_servers="mcp==$mcp_old mcp-server-sqlite==$sqlite"
if [ "$(cat "$mcp_directory/installed" 2>/dev/null)" != "$python_servers $old_servers" ]; then
    rm -rf "$mcp_directory"
    python3 -m venv "$mcp_directory"
    # shellcheck disable=SC2086 # one word a package
    "$mcp_directory/bin/pip" install -q --disable-pip-version-check $python_servers
    # This one needs the library's first version.
    python3 -m venv "$mcp_directory/old"
    # shellcheck disable=SC2086 # one word a package
    "$mcp_directory/old/bin/pip" install -q --disable-pip-version-check $old_servers
    echo "$python_servers $old_servers" >"$mcp_directory/installed"
fi
