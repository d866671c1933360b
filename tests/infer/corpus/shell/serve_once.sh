#!/usr/bin/env bash
# Checks that this machine lets us open a server: one that answers a single request.
set -euo pipefail

python3 - <<'PY'
import socket, threading

server = socket.create_server(("127.0.0.1", 0))

def serve():
    connection, _ = server.accept()
    with connection:
        connection.sendall(b"pong")

threading.Thread(target=serve).start()
with socket.create_connection(server.getsockname(), timeout=2) as client:
    print(client.recv(16).decode())
server.close()
PY
