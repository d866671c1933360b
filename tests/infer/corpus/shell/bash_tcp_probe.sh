#!/usr/bin/env bash
# A port probe without any program: bash opens the connection itself.
port=8123

if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
  echo "port $port is open"
else
  echo "port $port is closed"
  exit 1
fi
