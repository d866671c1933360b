"""Greets in the language of the terminal, or in English."""
import json
import os
from pathlib import Path

CATALOGUES = Path("data") / "i18n"


def available():
    return {path.stem: path for path in CATALOGUES.glob("*.json")}


def wanted_language():
    raw = os.environ.get("LC_ALL") or os.environ.get("LANG") or "en"
    return raw.split(".")[0].split("_")[0].lower()


catalogues = available()
chosen = catalogues.get(wanted_language(), catalogues["en"])
messages = json.loads(chosen.read_text(encoding="utf-8"))
print(messages.get("greeting", "Hello") + "!")
print(f"({len(messages)} messages, {len(catalogues)} languages)")
