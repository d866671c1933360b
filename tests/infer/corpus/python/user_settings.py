"""Shows the settings that apply: built-in ones, overridden by the user's file."""
import tomllib
from os.path import expanduser
from typing import Any

DEFAULTS: dict[str, Any] = {"currency": "EUR", "first_day": "monday", "colour": True}
USER_FILE = expanduser("~/.config/ledgerline/settings.toml")


def settings() -> dict[str, Any]:
    try:
        with open(USER_FILE, "rb") as handle:
            return DEFAULTS | tomllib.load(handle)
    except FileNotFoundError:
        return dict(DEFAULTS)


for key, value in sorted(settings().items()):
    print(f"{key} = {value!r}")
