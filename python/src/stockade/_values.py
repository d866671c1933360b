"""Plain values as JSON, with what JSON hasn't under a tag. The worker has a copy of its own: it imports nothing."""

from __future__ import annotations

import base64
import json
from typing import Any, Callable, Dict

#: The longest message.
LONGEST = 32 * 1024 * 1024

_TAG = "$"
_SEQUENCES: Dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}


def encoded(message: Dict[str, Any]) -> bytes:
    line = json.dumps(message).encode() + b"\n"
    if len(line) > LONGEST:
        raise ValueError("the message is too long")
    return line


def decoded(line: bytes) -> Dict[str, Any]:
    if len(line) > LONGEST:
        raise ValueError("the message is too long")
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("the message isn't an object")
    return message


def tagged(value: Any, other: Callable[[Any], Any]) -> Any:
    """For JSON; `other` makes a handle of what isn't plain."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if value - value == 0 else {_TAG: "float", "v": repr(value)}
    if kind is list:
        return [tagged(one, other) for one in value]
    if kind in (tuple, set, frozenset):
        return {_TAG: kind.__name__, "v": [tagged(one, other) for one in value]}
    if kind is bytes:
        return {_TAG: "bytes", "v": base64.b64encode(value).decode()}
    if kind is dict:
        if all(type(key) is str for key in value) and _TAG not in value:
            return {key: tagged(one, other) for key, one in value.items()}
        return {_TAG: "dict", "v": [[tagged(key, other), tagged(one, other)] for key, one in value.items()]}
    return {_TAG: "kept", "v": other(value), "repr": repr(value)[:200]}


def untagged(value: Any, other: Callable[[Any], Any]) -> Any:
    """From JSON; `other` finds what a handle stands for.

    Raises:
        ValueError: it isn't one of these.
    """
    if isinstance(value, list):
        return [untagged(one, other) for one in value]
    if not isinstance(value, dict):
        return value
    if _TAG not in value:
        return {key: untagged(one, other) for key, one in value.items()}
    kind, content = value[_TAG], value.get("v")
    try:
        if kind == "float" and isinstance(content, str):
            return float(content)
        if kind == "bytes" and isinstance(content, str):
            return base64.b64decode(content, validate=True)
        if kind in _SEQUENCES and isinstance(content, list):
            return _SEQUENCES[kind](untagged(one, other) for one in content)
        if kind == "dict" and isinstance(content, list):
            return {untagged(key, other): untagged(one, other) for key, one in content}
        if kind == "kept":
            return other(content)
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"it isn't a plain value: {error!r}") from error
    raise ValueError("it isn't a plain value")
