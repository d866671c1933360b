#!/usr/bin/env bash
# The branch for a prompt, or nothing outside of a repository.
branch() {
  git rev-parse --abbrev-ref HEAD 2>/dev/null || true
}

name=$(branch)
[ -n "$name" ] && printf '(%s)\n' "$name"
exit 0
