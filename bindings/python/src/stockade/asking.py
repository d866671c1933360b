"""Questions of a run: what it asks for, and what may be answered."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import queue
import socket
import threading
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Coroutine, Mapping, Optional, Set, Tuple, Union

from .results import visible

_log = logging.getLogger("stockade")

#: The longest line that Stockade is listened to for.
_LONGEST = 1024 * 1024
#: The most characters of a reason that are passed on.
_LONGEST_REASON = 500


@dataclass(frozen=True)
class EscalationRequest:
    """A request for more than the profile gives. The program waits for the answer.

    Texts are the untrusted program's to choose: ``str(request)`` escapes them.
    """

    id: str
    run: str
    current_profile: str
    grants: Tuple[Tuple[str, ...], ...]
    """What would be granted, each as the words of a flag: ``("--read", "/etc/hosts")``."""
    profile: Optional[str]
    """With ``escalate="profile"``: the profile that would be granted, in place of grants."""
    wider: Tuple[Tuple[str, ...], ...]
    """What ``Yes(wider=True)`` would grant; empty where nothing wider is sensible."""
    reason: str
    """The refusal: ``PermissionDenied: read /etc/hosts``."""
    access: str
    target: str
    """What the access is to, as the kernel names it."""
    asked: str
    """The same as the program named it."""
    program: str
    pid: int
    agent: Optional[str]
    warning: Optional[str]
    """What to know before a yes."""
    lifetimes: Tuple[str, ...]
    live: bool
    """Whether the program waits. Otherwise it has ended, and a yes starts it once more."""
    timeout: float
    """Seconds until it is refused."""
    json: Mapping[str, Any] = field(repr=False)
    """All of it, by ``schemas/escalation.schema.json``."""

    def __str__(self) -> str:
        warning = f"; {visible(self.warning)}" if self.warning else ""
        return f"{visible(self.program)} wants to {self.access} `{visible(self.target)}`{warning}"

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "EscalationRequest":
        requested, evidence = told["requested"], told["evidence"]
        if told["version"] != 1:
            raise ValueError("its version is unknown")
        return cls(
            id=told["id"],
            run=told["run"],
            current_profile=told["current_profile"],
            grants=_grants(requested),
            profile=requested.get("profile"),
            wider=_grants(told["wider"] or {}),
            reason=told["reason"],
            access=evidence["access"],
            target=evidence["target"],
            asked=evidence["asked"],
            program=evidence["program"],
            pid=evidence["pid"],
            agent=evidence["agent"],
            warning=evidence["warning"],
            lifetimes=tuple(told["lifetimes"]),
            live=told["live"],
            timeout=told["timeout_ms"] / 1000,
            json=told,
        )


def above_streams(file: int) -> int:
    """This descriptor, moved above the standard streams: one of those may have been closed."""
    if file > 2:
        return file
    try:
        return fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(file)


def _grants(requested: Mapping[str, Any]) -> Tuple[Tuple[str, ...], ...]:
    return tuple(tuple(words) for words in requested.get("grants", ()))


@dataclass(frozen=True)
class Yes:
    """Grants what is asked for."""

    lifetime: Optional[str] = None
    """``once``: this one access. ``session``: until the run ends. Without one, the shortest that is offered."""
    wider: bool = False
    """Grants :attr:`EscalationRequest.wider` in place of what is asked for."""
    reason: Optional[str] = None


@dataclass(frozen=True)
class No:
    """Refuses."""

    reason: Optional[str] = None
    all: bool = False
    """Whether nothing more is asked in this run."""


Answer = Union[Yes, No, bool, None]
AskCallback = Callable[[EscalationRequest], Answer]
AsyncAskCallback = Callable[[EscalationRequest], Awaitable[Answer]]


class Asker:
    """Answers the questions of one run, one after the other, on a thread of its own.

    A callback that raises, or that answers with anything but an answer, says no. One that takes longer than the question
    stays open says no too: Stockade doesn't wait for it.
    """

    def __init__(
        self,
        callback: Union[AskCallback, AsyncAskCallback],
        loop: Optional[asyncio.AbstractEventLoop] = None,
    ) -> None:
        self._callback = callback
        self._loop = loop
        self._open: "queue.SimpleQueue[Optional[EscalationRequest]]" = queue.SimpleQueue()
        self._withdrawn: Set[str] = set()
        self._is_closed = self._is_served = False
        self._ours, theirs = socket.socketpair()
        self.theirs = above_streams(theirs.detach())

    def start(self) -> None:
        """Serves from now on; the run has its end of the connection."""
        self._close_theirs()
        self._is_served = True
        for name, action in (("read", self._read), ("answer", self._answer)):
            threading.Thread(target=action, name=f"stockade-{name}", daemon=True).start()

    def close(self) -> None:
        """Ends the connection, which is a no to all that is still open. A callback that goes on isn't waited for."""
        self._is_closed = True
        self._close_theirs()
        if not self._is_served:
            self._ours.close()
            return
        try:
            self._ours.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _close_theirs(self) -> None:
        file, self.theirs = self.theirs, -1
        if file >= 0:
            os.close(file)

    def _read(self) -> None:
        """Takes questions. A line that isn't one ends the connection: nothing after it can be trusted to be whole."""
        try:
            with self._ours.makefile("rb") as lines:
                while True:
                    line = lines.readline(_LONGEST)
                    if not line:
                        break
                    told = json.loads(line)
                    if "withdrawn" in told:
                        self._withdrawn.add(told["withdrawn"])
                    else:
                        self._open.put(EscalationRequest.of(told))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if not isinstance(error, OSError):
                _log.error("a question of Stockade can't be read, so it is refused: %s", visible(repr(error)))
        finally:
            self._open.put(None)
            self.close()

    def _answer(self) -> None:
        with self._ours:
            while True:
                request = self._open.get()
                if request is None or self._is_closed:
                    return
                if request.id in self._withdrawn:
                    continue
                answer = self._answer_to(request)
                try:
                    self._ours.sendall(json.dumps(answer).encode() + b"\n")
                except OSError:
                    return

    def _answer_to(self, request: EscalationRequest) -> Mapping[str, Any]:
        try:
            return self._judged(request, self._said(request))
        except BaseException as error:  # noqa: B902  a callback's SystemExit is a no as well
            _log.error("the callback for questions failed, so the answer is no", exc_info=error)
            return {"id": request.id, "answer": "no", "reason": "the callback for questions failed"}

    def _judged(self, request: EscalationRequest, answer: Any) -> Mapping[str, Any]:
        no = {"id": request.id, "answer": "no"}
        if answer is True:
            answer = Yes()
        if isinstance(answer, Yes):
            lifetime = answer.lifetime or _shortest(request.lifetimes)
            is_wider = answer.wider is True
            if lifetime in ("once", "session") and lifetime in request.lifetimes and (request.wider or not is_wider):
                extent = "wider" if is_wider else "requested"
                return {
                    "id": request.id,
                    "answer": "yes",
                    "lifetime": lifetime,
                    "extent": extent,
                    "reason": _text(answer.reason),
                }
            return {**no, "reason": "the callback's yes isn't one of those that are offered"}
        if isinstance(answer, No):
            return {**no, "reason": _text(answer.reason), "all": answer.all is True}
        if answer is None or answer is False:
            return no
        _log.error("the callback for questions returned a %s, so the answer is no", type(answer).__name__)
        return no

    def _said(self, request: EscalationRequest) -> Any:
        answer: Any = self._callback(request)
        if self._loop is not None and asyncio.iscoroutine(answer):
            coroutine: Coroutine[Any, Any, Any] = answer
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
            try:
                return future.result(request.timeout)
            finally:
                future.cancel()
        return answer


def _shortest(lifetimes: Tuple[str, ...]) -> str:
    return "once" if "once" in lifetimes else "session"


def _text(reason: Optional[str]) -> Optional[str]:
    """A bounded reason that is whole characters: Stockade takes no other, and a yes would become a no."""
    return None if reason is None else str(reason)[:_LONGEST_REASON].encode("utf-8", "replace").decode()
