"""Whether a tool call may be made, before it is made."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type

from ._binary import find_binary
from .errors import StockadeError
from .inference import ask as ask_program
from .options import StrPath

_ALLOW, _DENY, _CONFIRM = "allow", "deny", "confirm"


@dataclass(frozen=True)
class Decision:
    """``allow``, ``deny``, or ``confirm``: a person has to say yes. It is true only where it allows."""

    decision: str
    reason: str
    """Tell a denied tool ``Permission denied: `` and this."""
    matched: Optional[str]
    """The rule."""
    remember: Tuple[Mapping[str, str], ...]
    """What a yes would store, for ``stockade rules remember``."""
    title: Optional[str]
    message: Optional[str]
    danger: Optional[str]

    @property
    def allowed(self) -> bool:
        return self.decision == _ALLOW

    @property
    def needs_confirmation(self) -> bool:
        return self.decision == _CONFIRM

    def __bool__(self) -> bool:
        return self.allowed

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Decision":
        if "error" in told:
            raise StockadeError(str(told["error"]))
        try:
            if told["decision"] not in (_ALLOW, _DENY, _CONFIRM):
                raise StockadeError(f"the decision {told['decision']!r} is unknown")
            return cls(
                decision=told["decision"],
                reason=told["reason"],
                matched=told.get("matched"),
                remember=tuple(told.get("remember", ())),
                title=told.get("title"),
                message=told.get("message"),
                danger=told.get("danger"),
            )
        except (KeyError, TypeError) as error:
            raise StockadeError(f"the answer of `stockade check` isn't complete: {error!r}") from error


def _question(
    tool: Optional[str],
    command: Optional[str],
    skill: Optional[str],
    action: Optional[str],
    path: Optional[StrPath],
    host: Optional[str],
    cwd: Optional[StrPath],
) -> Dict[str, str]:
    told = {
        "tool": tool or ("skill_load" if skill is not None else None),
        "command": command,
        "skill_name": skill,
        "action": action,
        "path": None if path is None else os.fspath(path),
        "host": host,
        "cwd": None if cwd is None else os.fspath(cwd),
    }
    return {name: value for name, value in told.items() if value is not None}


class Checker:
    """Decides many calls with one process, which reads the configuration once. May be used from several threads.

    >>> with Checker(agent="worker") as checker:
    ...     checker.check("bash", "git status")
    """

    def __init__(
        self,
        *,
        agent: Optional[str] = None,
        root: Optional[StrPath] = None,
        rules: Optional[StrPath] = None,
        ask: bool = True,
        audit: Optional[str] = None,
    ) -> None:
        flags = {"agent": agent, "root": root, "rules": rules, "audit": audit}
        self._flags = [f"--{name}={os.fspath(value)}" for name, value in flags.items() if value is not None]
        self._flags += [] if ask else ["--no-ask"]
        self._lock = threading.Lock()
        self._process: "Optional[subprocess.Popen[bytes]]" = None
        self._owner = -1
        self._last = 0

    def check(
        self,
        tool: Optional[str] = None,
        command: Optional[str] = None,
        *,
        skill: Optional[str] = None,
        action: Optional[str] = None,
        path: Optional[StrPath] = None,
        host: Optional[str] = None,
        cwd: Optional[StrPath] = None,
    ) -> Decision:
        """Decides one call.

        Raises:
            StockadeError: it can't be decided, which is not an allow.
        """
        question = _question(tool, command, skill, action, path, host, cwd)
        self._leave_parents()
        with self._lock:
            process = self._running()
            self._last += 1
            number = self._last
            told: Any = None
            try:
                assert process.stdin is not None and process.stdout is not None
                process.stdin.write(json.dumps({"id": number, **question}).encode() + b"\n")
                process.stdin.flush()
                told = json.loads(process.stdout.readline() or b"null")
            except (OSError, ValueError):
                pass
            except BaseException:
                # Half a question was asked, or its answer is still to come.
                self._stop()
                raise
            if not isinstance(told, dict) or told.get("id") != number:
                self._stop()
                if len(self._flags):
                    self._complain()
                raise StockadeError("`stockade check --batch` gave no answer")
            return Decision.of(told)

    def close(self) -> None:
        """Ends the process. The next check starts another."""
        with self._lock:
            self._stop()

    def _leave_parents(self) -> None:
        """After a fork, the process and the lock are those of the parent, which another of its threads may have held."""
        process = self._process
        if process is not None and self._owner != os.getpid():
            self._lock, self._process = threading.Lock(), None
            _close(process)
            # It isn't a child of this process.
            process.returncode = 0

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            line = [find_binary(), "check", "--batch", *self._flags]
            self._process = subprocess.Popen(
                line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self._owner = os.getpid()
        return self._process

    def _complain(self) -> None:
        """Raises what is wrong with the flags, which the batch says on standard error."""
        ask_program([find_binary(), "check", "--batch", *self._flags], b"", (0, 1))

    def _stop(self) -> None:
        self._leave_parents()
        process, self._process = self._process, None
        if process is None:
            return
        _close(process)
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __enter__(self) -> "Checker":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self._stop()


def _close(process: "subprocess.Popen[bytes]") -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:
                pass


def check(
    tool: Optional[str] = None,
    command: Optional[str] = None,
    *,
    skill: Optional[str] = None,
    action: Optional[str] = None,
    path: Optional[StrPath] = None,
    host: Optional[str] = None,
    cwd: Optional[StrPath] = None,
    agent: Optional[str] = None,
    root: Optional[StrPath] = None,
    rules: Optional[StrPath] = None,
    ask: bool = True,
    audit: Optional[str] = None,
) -> Decision:
    """Decides one call: of a ``tool`` with a ``command``, or an ``action`` on a ``path`` or ``host``.

    >>> if not check("bash", "git push", agent="worker"): ...
    """
    with Checker(agent=agent, root=root, rules=rules, ask=ask, audit=audit) as checker:
        return checker.check(tool, command, skill=skill, action=action, path=path, host=host, cwd=cwd)


__all__: List[str] = ["Checker", "Decision", "check"]
