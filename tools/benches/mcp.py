#!/usr/bin/env python3
"""Calls of a tool bare, under `stockade run` and under `stockade mcp wrap`, side by side: microseconds each, and ratios.

tools/benches/mcp.py STOCKADE [CALLS] [-- SERVER…]   (without SERVER: tests/mcp/server.py; a server needs a tool `echo`)
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

SERVER = ["python3", "-I", str(Path(__file__).resolve().parent.parent / "tests/mcp/server.py")]


class Client:
    def __init__(self, words):
        self.server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.last = 0
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})

    def ask(self, method, parameters):
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters}
        self.server.stdin.write(json.dumps(message).encode() + b"\n")
        self.server.stdin.flush()
        while True:
            answer = json.loads(self.server.stdout.readline())
            if answer.get("id") == self.last and "method" not in answer:
                return answer

    def microseconds(self, calls, text):
        begun = time.perf_counter()
        for _ in range(calls):
            self.ask("tools/call", {"name": "echo", "arguments": {"text": text, "message": text}})
        return (time.perf_counter() - begun) / calls * 1e6

    def end(self):
        self.server.stdin.close()
        self.server.wait()


def main():
    words = sys.argv[1:]
    server = SERVER
    if "--" in words:
        words, server = words[: words.index("--")], words[words.index("--") + 1 :]
    stockade, calls = words[0], int(words[1]) if len(words) > 1 else 200
    ways = {
        "bare": server,
        "run": [stockade, "run", "--profile", "mcp-standard", "--ask", "never", "--", *server],
        "wrap": [stockade, "mcp", "wrap", "--", *server],
    }
    for size in [10, 10_000, 1_000_000]:
        rounds = max(1, calls * 10 // max(10, size // 1000))
        clients = {way: Client(words) for way, words in ways.items()}
        times = {way: [] for way in ways}
        # Alternating, so that what else the machine does falls on all of them.
        for _ in range(7):
            for way, client in clients.items():
                times[way].append(client.microseconds(rounds, "x" * size))
        for client in clients.values():
            client.end()
        middle = {way: statistics.median(values) for way, values in times.items()}
        ratios = ", ".join(f"{way} {middle[way]:.0f} µs ({middle[way] / middle['bare']:.2f})" for way in ways)
        print(f"{size:>8} bytes: {ratios}")


main()
