"""What a sandbox may be told, and the words of ``stockade run`` for it."""

from __future__ import annotations

import math
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from .asking import AskCallback, AsyncAskCallback

StrPath = Union[str, "os.PathLike[str]"]
Paths = Union[StrPath, Sequence[StrPath]]
Words = Union[str, Sequence[str]]
Size = Union[int, str]


class Options(TypedDict, total=False):
    """What a run may do, where, and for how long. Each is the flag of ``stockade run`` of the same name."""

    profile: str
    """By name or file; without it, ``minimal``, or the agent's."""
    root: StrPath
    """``./`` in profiles, and where the command starts; by default the current directory."""
    cwd: StrPath
    """The same as ``root``."""
    agent: str
    tool: str
    read: Paths
    write: Paths
    exec: Paths
    socket: Paths
    deny: Words
    env: Union[Mapping[str, str], Words]
    """Variables to set, or names of the caller's to pass. None pass otherwise but those that the profile names."""
    host: Words
    listen: Union[int, Sequence[int]]
    net: str
    llm: bool
    cap: Words
    mode: str
    timeout: float
    """Seconds after which the run is ended with all its processes. Questions that are open don't count."""
    cpu_limit: float
    memory_limit: Size
    process_limit: int
    open_files_limit: int
    file_size_limit: Size
    disk_limit: Size
    output_limit: Size
    ask: Union[AskCallback, AsyncAskCallback, str]
    """A callback, or where to ask: ``never`` (the default), ``terminal``, ``socket``, ``auto``, ``command=TEXT``."""
    ask_timeout: float
    escalate: str
    audit: str
    trace: str
    resolver: str
    accept_shortfall: Words


def _path(value: Any) -> str:
    text = os.fspath(value)
    if not isinstance(text, str):
        raise TypeError(f"a path is a string or a `PathLike` of one, not {text!r}")
    return text


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a string, not {value!r}")
    return value


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"expected a whole number, not {value!r}")
    return str(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected `True` or `False`, not {value!r}")
    return value


def _variable(name: Any) -> str:
    if not _word(name) or "=" in name or "\0" in name:
        raise ValueError(f"a variable can't be called {name!r}")
    return str(name)


def _time(value: Any) -> str:
    seconds = float(value)
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"a time is a positive number of seconds, not {value!r}")
    return f"{max(1, math.ceil(seconds * 1000))}ms"


def _size(value: Any) -> str:
    return value if isinstance(value, str) else _number(value) + "B"


_Reader = Callable[[Any], str]
#: Options that may be given several times, and those given once.
_SEVERAL: Mapping[str, _Reader] = {
    "read": _path,
    "write": _path,
    "exec": _path,
    "socket": _path,
    "deny": _word,
    "host": _word,
    "listen": _number,
    "cap": _word,
    "accept_shortfall": _word,
}
_ONCE: Mapping[str, _Reader] = {
    "profile": _path,
    "root": _path,
    "agent": _word,
    "tool": _word,
    "net": _word,
    "mode": _word,
    "timeout": _time,
    "cpu_limit": _time,
    "memory_limit": _size,
    "process_limit": _number,
    "open_files_limit": _number,
    "file_size_limit": _size,
    "disk_limit": _size,
    "output_limit": _size,
    "ask_timeout": _time,
    "escalate": _word,
    "audit": _word,
    "trace": _word,
    "resolver": _word,
}
#: Options that a flag of a suggestion may stand for.
GRANTS = ("read", "write", "exec", "socket", "host", "listen", "env", "net")
_FLAGS = {"timeout": "--time-limit"}


def checked(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The options without those that are ``None``.

    Raises:
        TypeError: one is unknown, as with any keyword argument.
    """
    for name in options:
        if name not in Options.__annotations__:
            raise TypeError(f"there is no option `{name}`")
    kept = {name: value for name, value in options.items() if value is not None}
    if "cwd" in kept:
        if "root" in kept:
            raise TypeError("`cwd` is the same as `root`: give one of them")
        kept["root"] = kept.pop("cwd")
    return kept


def several(value: Any) -> Tuple[Any, ...]:
    """One value, or some: a lone string is one."""
    if isinstance(value, (str, bytes, int, os.PathLike)):
        return (value,)
    return tuple(value)


def flag_of(name: str) -> str:
    return _FLAGS.get(name) or "--" + name.replace("_", "-")


def words(options: Mapping[str, Any]) -> List[str]:
    """The flags for these options, but for `env` and `ask`."""
    line: List[str] = []
    for name, value in options.items():
        if name in _SEVERAL:
            for one in several(value):
                line.append(f"{flag_of(name)}={_SEVERAL[name](one)}")
        elif name in _ONCE:
            line.append(f"{flag_of(name)}={_ONCE[name](value)}")
        elif name == "llm" and _truth(value):
            line.append("--llm")
    return line


def variables(value: Any) -> Tuple[List[str], Dict[str, str]]:
    """The flags for variables, and what Stockade's own environment gets for them.

    A value stands in the environment, which other users can't read, unless Stockade itself would obey it there.
    """
    if not isinstance(value, Mapping):
        return [f"--env={_variable(name)}" for name in several(value)], {}
    flags: List[str] = []
    passed: Dict[str, str] = {}
    for name, text in value.items():
        if _is_own(_variable(name)):
            flags.append(f"--env={name}={_word(text)}")
        else:
            flags.append(f"--env={name}")
            passed[name] = _word(text)
    return flags, passed


_OWN = frozenset(
    "PATH HOME USER LOGNAME SHELL TERM COLORTERM NO_COLOR LANG LANGUAGE TZ TMPDIR HOSTALIASES RES_OPTIONS LOCALDOMAIN".split()
)
_OWN_BEGINNINGS = ("STOCKADE_", "XDG_", "LD_", "LC_", "GLIBC_", "MALLOC_", "RUST_", "SQLITE_")


def _is_own(name: str) -> bool:
    return name in _OWN or name.startswith(_OWN_BEGINNINGS)


def from_flags(flags: Sequence[str]) -> Dict[str, Any]:
    """Options for the flags of a denial or suggestion.

    Raises:
        ValueError: one isn't a flag that grants.
    """
    names = {flag_of(name): name for name in GRANTS}
    found: Dict[str, Any] = {}
    rest = list(flags)
    while rest:
        name = names.get(rest.pop(0))
        if name is None or not rest:
            raise ValueError(f"these words aren't grants: {list(flags)!r}")
        word = rest.pop(0)
        if name == "net":
            found[name] = word
        else:
            found.setdefault(name, []).append(int(word) if name == "listen" else word)
    return found


def joined(options: Mapping[str, Any], more: Mapping[str, Any]) -> Dict[str, Any]:
    """These options with more grants; what isn't a list is replaced."""
    result = dict(options)
    for name, value in more.items():
        before: Optional[Any] = result.get(name)
        if before is None:
            result[name] = value
        elif name == "env":
            result[name] = _joined_variables(before, value)
        elif name in _SEVERAL:
            result[name] = (*several(before), *several(value))
        else:
            result[name] = value
    return result


def _joined_variables(before: Any, more: Any) -> Any:
    if isinstance(before, Mapping) and isinstance(more, Mapping):
        return {**before, **more}
    if isinstance(before, Mapping) or isinstance(more, Mapping):
        raise TypeError("`env` is either values or names, not both: give the values of all")
    return (*several(before), *several(more))
