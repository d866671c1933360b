"""Tells the chat that a build is done."""
import base64
import json
import sys
from urllib import request as web
from urllib.error import URLError
from urllib.parse import urlencode, urlunsplit

# https, hooks.example.com, /services/T000/B000
_PARTS = ("https", base64.b64decode(b"aG9va3MuZXhhbXBsZS5jb20=").decode(), "/services/T000/B000", urlencode({"v": 2}), "")


def payload(text: str, *, channel: str = "#builds") -> bytes:
    return json.dumps({"channel": channel, "text": text}).encode()


def post(body: bytes) -> int:
    req = web.Request(urlunsplit(_PARTS), data=body, method="POST")
    req.add_header("Content-Type", "application/json")
    with web.urlopen(req, timeout=2) as reply:
        return reply.status


try:
    print(post(payload("build 1.3.0 is done")))
except URLError as error:
    sys.exit(f"the chat wasn't told: {error.reason}")
