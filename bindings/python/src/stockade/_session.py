"""A Python process in a sandbox that keeps its variables from one piece of code to the next.

What comes out of it was chosen by untrusted code: it is bounded, and read as plain values alone. Nothing is unpickled.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from typing import IO, Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

from ._values import LONGEST_IN, TooLong, decoded, encoded, tagged, untagged
from .asking import EscalationRequest
from .errors import StockadeError
from .process import Popen
from .results import command_line, doing_what, perhaps, perhaps_reason, visible
from .sandbox import Sandbox

#: Seconds for an exchange that runs none of the code: the process starts within them, too.
PATIENCE = 60.0
#: The most results that are kept for one process.
MOST_KEPT = 10_000

_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_worker.py")


def _line(message: Dict[str, Any], what: str) -> bytes:
    try:
        return encoded(message)
    except TooLong as error:
        raise StockadeError(f"{what} is too long for the sandbox: {error}") from None


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:
        return "without a message"


@contextlib.contextmanager
def _ended_after(process: "Popen[bytes]", timeout: Optional[float], is_late: threading.Event) -> Iterator[None]:
    """Ends a process that isn't left alone in time."""
    if timeout is None:
        yield
        return

    def end() -> None:
        is_late.set()
        process.kill()

    timer = threading.Timer(timeout, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class SessionEnded(StockadeError):
    """The process has ended, and its variables are lost; the next piece of code starts another."""


@dataclass(frozen=True)
class Answer:
    """What a piece of code did."""

    output: str
    """What it printed, its programs' output included."""
    value: Any
    """The value of its last expression, if it is a plain one; else its ``repr``."""
    error: Optional[str]
    """Its traceback."""
    ending: Optional[str]
    """The function of the host that ended it: see :attr:`Session.enders`."""


class Session:
    """One process at a time. Functions of the host can be called from the code; they run here, with the host's rights.

    Values cross as plain ones (numbers, strings, bytes, lists, tuples, dicts, sets). A function's result that isn't plain
    stays here, and the code gets a handle for it that it can only pass back.
    """

    def __init__(self, sandbox: Sandbox, *, python: Optional[str] = None, longest_output: int = 50_000) -> None:
        ask = sandbox.options.get("ask")
        self._refused: List[EscalationRequest] = []
        # Without an approver, questions are only noted, so that an error can say what would have allowed it.
        self._sandbox = sandbox if ask is not None else sandbox.allowing(ask=self._note)
        self._python = python or sys.executable
        self._longest_output = longest_output
        self._functions: Dict[str, Callable[..., Any]] = {}
        self._variables: Dict[str, Any] = {}
        self._kept: Dict[int, Any] = {}
        # The number of each kept result, by its identity, which stays its own as long as it is kept.
        self._numbers: Dict[int, int] = {}
        self._process: "Optional[Popen[bytes]]" = None
        self._errors: Optional[IO[bytes]] = None
        self._lock = threading.RLock()
        self.enders: Tuple[str, ...] = ()
        """Names of functions that end the code that calls them."""

    def set_functions(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        """Functions of the host that the code may call by these names."""
        with self._lock:
            self._functions = dict(functions)
            if self._process is not None:
                self._exchange(self._process, self._names(), PATIENCE)

    def set_variables(self, variables: Mapping[str, Any]) -> None:
        """Sets variables of the code, also after a restart.

        Raises:
            StockadeError: one is too long. Then none of them is set.
        """
        with self._lock:
            for name, value in variables.items():
                _line(self._setting(name, value), f"the variable `{name}`")
            self._variables.update(variables)
            if self._process is not None:
                self._set(self._process, variables)

    def run(self, code: str, timeout: Optional[float] = None) -> Answer:
        """Runs a piece of code.

        Raises:
            SessionEnded: it ended its process, or took longer than ``timeout``.
            StockadeError: the process can't be started.
        """
        with self._lock:
            process = self._running()
            self._refused.clear()
            return self._answer(self._exchange(process, {"do": "run", "code": code, "most": self._longest_output}, timeout))

    def close(self) -> None:
        """Ends the process, and all that it started."""
        while not self._lock.acquire(timeout=0.1):
            # Another thread waits for an answer, which may never come.
            process = self._process
            if process is not None:
                process.kill()
        try:
            self._end()
        finally:
            self._lock.release()

    def _answer(self, told: Dict[str, Any]) -> Answer:
        try:
            error, ending = told["error"], told["ending"]
            value = self._in(told["value"])
            output = str(told["output"])[: self._longest_output]
        except (KeyError, ValueError, RecursionError) as wrong:
            self._end()
            raise SessionEnded(f"the process sent what isn't an answer: {visible(repr(wrong))}") from wrong
        if error is not None:
            error = str(error)[: self._longest_output]
            error += self._would_grant(error)
        return Answer(output, value, error, ending if ending in self.enders else None)

    def _note(self, request: EscalationRequest) -> bool:
        if len(self._refused) < 20:
            self._refused.append(request)
        return False

    def _would_grant(self, error: str) -> str:
        """What would have allowed the refused accesses that the error names, or else those that were perhaps the reason."""
        named = [one for one in self._refused if one.target in error or (one.asked and one.asked in error)]
        lines = []
        for request in named[:3] or self._refused[:-4:-1]:
            doing = doing_what(request.access, request.target)
            flags = command_line(word for grant in request.grants for word in grant)
            lines.append(f"\nPermission denied: {doing}; would grant: {flags}" if named else f"{doing}: `{flags}`")
        return "".join(lines) if named or not lines else f"\n{perhaps_reason(lines)}"

    def _running(self) -> "Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self._end()
            # `-I`: nothing of the root is imported before the code asks for it.
            line = [self._python, "-I", "-u", _WORKER]
            self._errors = tempfile.TemporaryFile()
            self._process = self._sandbox.allowing(read=_WORKER).popen(
                line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
            )
            self._exchange(self._process, self._names(), PATIENCE)
            self._set(self._process, self._variables)
        return self._process

    def _set(self, process: "Popen[bytes]", variables: Mapping[str, Any]) -> None:
        """Sends each by itself: together they may be too long for a message."""
        for name, value in variables.items():
            self._exchange(process, self._setting(name, value), PATIENCE)

    def _setting(self, name: str, value: Any) -> Dict[str, Any]:
        try:
            return {"do": "set", "variables": self._out({name: value})}
        except TooLong as error:
            raise StockadeError(f"the variable `{name}` can't be sent: {error}") from None

    def _names(self) -> Dict[str, Any]:
        return {"do": "functions", "names": list(self._functions), "enders": list(self.enders)}

    def _exchange(self, process: "Popen[bytes]", message: Dict[str, Any], timeout: Optional[float]) -> Dict[str, Any]:
        """Sends a message; serves calls of functions until the answer comes, or the time is over."""
        # Code that ran before can't know it, so it can't have answered already.
        number = secrets.token_hex(8)
        line = _line({**message, "id": number}, "the code" if message["do"] == "run" else "the message")
        is_late = threading.Event()
        try:
            with _ended_after(process, timeout, is_late):
                self._send(process, line)
                told = self._receive(process)
                while told.get("do") == "call":
                    self._send(process, self._called(told))
                    told = self._receive(process)
            if is_late.is_set():
                raise EOFError
            if told.get("id") != number:
                raise ValueError("it answers another request")
            return told
        except (OSError, EOFError, ValueError, RecursionError) as error:
            lost = self._lost(process, error)
            if is_late.is_set():
                lost = SessionEnded(f"the process took longer than {timeout} s; its variables are lost")
            raise lost from None
        except BaseException:
            self._end()
            raise

    def _called(self, told: Dict[str, Any]) -> bytes:
        """Calls a function; returns the line that answers it."""
        try:
            function = self._functions.get(told["name"])
            arguments, named = self._in(told["args"]), self._in(told["kwargs"])
            if function is None or not isinstance(arguments, list) or not isinstance(named, dict):
                return encoded({"error": "no such function"})
            return encoded({"value": self._out(function(*arguments, **named))})
        except TooLong as error:
            return encoded({"error": f"the function's result is too long for the sandbox: {error}"})
        except Exception as error:  # what a function raises, the code gets as its error
            return encoded({"error": f"{type(error).__name__}: {_text(error)}"[: self._longest_output]})

    def _send(self, process: "Popen[bytes]", line: bytes) -> None:
        assert process.stdin is not None
        process.stdin.write(line)
        process.stdin.flush()

    def _receive(self, process: "Popen[bytes]") -> Dict[str, Any]:
        assert process.stdout is not None
        line = process.stdout.readline(LONGEST_IN + 1)
        if not line:
            raise EOFError
        return decoded(line)

    def _out(self, value: Any) -> Any:
        return tagged(value, self._keep)

    def _in(self, value: Any) -> Any:
        return untagged(value, self._kept.__getitem__)

    def _keep(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = len(self._kept)
            if number >= MOST_KEPT:
                raise TooLong(f"{MOST_KEPT} results that aren't plain are kept already")
            self._kept[number] = value
            self._numbers[id(value)] = number
        return number

    def _lost(self, process: "Popen[bytes]", error: BaseException) -> StockadeError:
        """Why there is no answer."""
        is_protocol = not isinstance(error, (EOFError, OSError))
        errors, self._errors = self._errors, None
        self._end()
        said = ""
        if errors is not None:
            with contextlib.suppress(OSError, ValueError):
                errors.seek(0)
                said = errors.read(2000).decode("utf-8", "replace").strip()
            errors.close()
        if is_protocol:
            return SessionEnded(f"the process sent what isn't an answer: {visible(repr(error))}")
        if process.error is not None and process.returncode in (125, 126, 127):
            return process.error
        report = process.report
        why = f"by the limit `{report.limit}`" if report and report.limit else f"with {process.returncode}"
        causes = "; ".join(str(denial) for denial in process.denials[:2] if denial.explains == "yes")
        parts = [visible(said, 1000), causes or perhaps(process.denials)]
        tail = "".join(f"\n{part}" for part in parts if part)
        return SessionEnded(f"the code's process ended {why}; its variables are lost{tail}")

    def _end(self) -> None:
        process, self._process = self._process, None
        self._kept.clear()
        self._numbers.clear()
        if self._errors is not None:
            self._errors.close()
            self._errors = None
        if process is None:
            return
        # Its variables are lost anyway, so it isn't asked to end; what it did is in the report where it ended by itself.
        with contextlib.suppress(subprocess.TimeoutExpired):
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
            process.wait(0.5)
        process.end()
        if process.stdout is not None:
            process.stdout.close()
