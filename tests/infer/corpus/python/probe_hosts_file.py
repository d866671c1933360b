"""Tries a TCP connection to each host of a list."""
import socket
import sys
from pathlib import Path

PORT = 8123


def reachable(host: str, port: int = PORT) -> bool:
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False


hosts = Path("data/hosts.txt").read_text().split()
down = [host for host in hosts if not reachable(host)]
print(f"{len(hosts) - len(down)} of {len(hosts)} hosts answer")
sys.exit(1 if down else 0)
