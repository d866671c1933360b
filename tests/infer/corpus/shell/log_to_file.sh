#!/usr/bin/env bash
# Sends all of its output to a log file in the project.
set -euo pipefail

mkdir -p logs
exec >>logs/nightly.log 2>&1

log() { printf '%(%F)T %s\n' -1 "$*"; }

log "started"
for step in fetch convert publish; do
  log "step $step (dry run)"
done
log "ended"
