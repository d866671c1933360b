"""Serves a page that it holds itself, asks for it once as a smoke test, and stops."""
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

PAGE = b"<h1>It works</h1>"


class Preview(BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format, *args):
        pass


def main():
    server = HTTPServer(("127.0.0.1", 0), Preview)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/", timeout=2) as reply:
            assert reply.read() == PAGE
        print("smoke test passed")
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    main()
