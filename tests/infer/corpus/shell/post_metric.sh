#!/bin/sh
# Tells the metrics service that the job ran.
set -eu

host=metrics.example.com

curl -sS --max-time 2 -X POST \
  --data-binary @- "https://$host/api/put" <<EOF
job_runs_total{job="nightly"} 1
job_last_run $(date +%s)
EOF
