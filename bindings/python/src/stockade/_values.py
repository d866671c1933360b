"""Plain values as JSON, with what JSON hasn't under a tag. The worker has a copy of its own: it imports nothing."""

from __future__ import annotations

import base64
import json
from typing import Any, Callable, Dict, Iterable, List

#: The longest message to the worker, in bytes.
LONGEST_OUT = 32 * 1024 * 1024
#: The longest message from it. It was chosen by untrusted code, and no limit of the run holds for what becomes of it here.
LONGEST_IN = 4 * 1024 * 1024
#: The most values in a message from it: each takes up to a hundred times the memory of its text.
MOST_VALUES = 500_000
#: The most digits of a number from it: older Pythons take quadratic time for each.
MOST_DIGITS = 4300
#: The most keys with one hash: a set of them takes quadratic time.
MOST_COLLISIONS = 100

_TAG = "$"
_SEQUENCES: Dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}


class TooLong(ValueError):
    """The message can't be sent."""


def encoded(message: Dict[str, Any]) -> bytes:
    """The line of a message to the worker.

    Raises:
        TooLong: it is longer than the worker takes.
    """
    line = json.dumps(message).encode() + b"\n"
    if len(line) > LONGEST_OUT:
        raise TooLong(f"it is longer than {LONGEST_OUT // 1024**2} MiB as text")
    return line


def decoded(line: bytes) -> Dict[str, Any]:
    """The message of a line from the worker.

    Raises:
        ValueError: it isn't one, or is too large.
    """
    if len(line) > LONGEST_IN:
        raise ValueError(f"the message is longer than {LONGEST_IN // 1024**2} MiB")
    if sum(map(line.count, (b"[", b"{", b","))) > MOST_VALUES:
        raise ValueError(f"the message has more than {MOST_VALUES} values")
    message = json.loads(line, parse_int=_whole)
    if not isinstance(message, dict):
        raise ValueError("the message isn't an object")
    return message


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError("a number is too long")
    return int(digits)


def tagged(value: Any, other: Callable[[Any], Any]) -> Any:
    """For JSON; `other` makes a handle of what isn't plain. Of that only the type's name goes along."""
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
    return {_TAG: "kept", "v": other(value), "repr": f"a {kind.__name__}"[:200]}


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
            values = [untagged(one, other) for one in content]
            if kind != "tuple":
                _refuse_collisions(values)
            return _SEQUENCES[kind](values)
        if kind == "dict" and isinstance(content, list):
            pairs = [(untagged(key, other), untagged(one, other)) for key, one in content]
            _refuse_collisions(key for key, _ in pairs)
            return dict(pairs)
        if kind == "kept":
            return other(content)
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"it isn't a plain value: {error!r}") from error
    raise ValueError("it isn't a plain value")


def _refuse_collisions(keys: Iterable[Any]) -> None:
    """Numbers with one hash are easily found. Sorted: a table of the hashes would itself collide."""
    hashes: List[int] = sorted(map(hash, keys))
    if any(one == other for one, other in zip(hashes, hashes[MOST_COLLISIONS:])):
        raise ValueError("too many keys have one hash")
