#!/bin/sh
# Prints how a tool is used. The tool itself was retired: see the wiki.
usage() {
  cat >&2 <<EOF
usage: deploy [--force] HOST

Copies build/ to HOST:/srv/app and restarts it:

    rsync -a build/ "\$HOST:/srv/app/"
    ssh "\$HOST" systemctl restart app
    curl -fsS https://api.example.com/deployed
    rm -rf build

Reads ~/.deployrc and \$DEPLOY_TOKEN.
EOF
  exit 64
}

usage
