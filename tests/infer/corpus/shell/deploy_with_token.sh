#!/usr/bin/env bash
# Starts a deployment. The token comes from the environment of the CI job.
set -euo pipefail

: "${DEPLOY_TOKEN:?the CI job has to set it}"

curl -fsS -X POST -H "Authorization: Bearer $DEPLOY_TOKEN" https://deploy.example.com/v1/start
