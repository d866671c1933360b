"""Asks a language model for a title of a text."""
import os
import sys

import httpx

API_KEY = os.environ.get("OPENAI_API_KEY", "")
MODEL = "gpt-4o-mini"


def title(text: str) -> str:
    response = httpx.post(
        "https://api.openai.com/v1/chat/completions",
        headers={"Authorization": f"Bearer {API_KEY}"},
        json={"model": MODEL, "messages": [{"role": "user", "content": f"A title for: {text}"}]},
        timeout=10,
    )
    response.raise_for_status()
    return response.json()["choices"][0]["message"]["content"]


if __name__ == "__main__":
    if not API_KEY:
        print("OPENAI_API_KEY isn't set", file=sys.stderr)
        sys.exit(2)
    print(title(sys.stdin.read()))
