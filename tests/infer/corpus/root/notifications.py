"""Tells people of things by webhooks."""
import json
import urllib.request


def send_alert(webhook: str, title: str, body: str) -> None:
    request = urllib.request.Request(webhook, json.dumps({"title": title, "body": body}).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        answer.read()
