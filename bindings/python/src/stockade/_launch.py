"""One start of ``stockade run``: its words, the descriptors that it gets, and what it says at its end."""

from __future__ import annotations

import asyncio
import fcntl
import inspect
import json
import os
import signal
import tempfile
from typing import Any, AnyStr, Dict, List, Mapping, Optional, Sequence, Tuple, Type

from ._binary import find_binary
from .asking import Asker, above_streams
from .errors import CommandNotExecutable, CommandNotFound, StockadeError
from .options import StrPath, variables, words
from .results import Report, Result

#: More than any report or message has.
_LONGEST = 64 * 1024 * 1024
_NOT_EXECUTABLE, _NOT_FOUND, _PAST_TIME = 126, 127, 124


class Launch:
    """The words and descriptors of one start. The caller that starts it calls :meth:`started` or :meth:`abandon` next.

    The report and Stockade's messages go to files in memory, so nothing has to read them while the run goes on.
    """

    def __init__(
        self,
        task: str,
        command: Sequence[str],
        options: Mapping[str, Any],
        loop: Optional[asyncio.AbstractEventLoop] = None,
        flags: Sequence[str] = (),
    ) -> None:
        self.command = list(command)
        self.env: Optional[Dict[str, str]] = None
        self._asker: Optional[Asker] = None
        self._report = self._messages = -1
        line = [find_binary(), task, *words(options), *flags]
        if "env" in options:
            names, values = variables(options["env"])
            line += names
            self.env = {**os.environ, **values}
        ask: Any = options.get("ask", "never")
        if callable(ask):
            if loop is None and inspect.iscoroutinefunction(ask):
                raise TypeError("an `async` callback for questions needs `stockade.aio`")
            self._asker = Asker(ask, loop)
            ask = f"fd:{self._asker.theirs}"
        elif not isinstance(ask, str):
            raise TypeError(f"`ask` is a callback or a string, not {ask!r}")
        try:
            self._report, self._messages = _memory_file("report"), _memory_file("messages")
        except BaseException:
            self.abandon()
            raise
        line += [f"--ask={ask}", f"--report=fd:{self._report}", f"--messages=fd:{self._messages}"]
        self.words = [*line, "--", *self.command]

    @property
    def pass_fds(self) -> Tuple[int, ...]:
        """The descriptors that Stockade inherits. The run inherits none of them."""
        asked = () if self._asker is None else (self._asker.theirs,)
        return (self._report, self._messages, *asked)

    def started(self) -> None:
        """Stockade has its descriptors."""
        if self._asker is not None:
            self._asker.start()

    def abandon(self) -> None:
        """Gives up what it holds."""
        if self._asker is not None:
            self._asker.close()
        for file in (self._report, self._messages):
            if file >= 0:
                os.close(file)
        self._report = self._messages = -1

    def __del__(self) -> None:
        # A run whose `Popen` is dropped goes on, without a report and with a no to all that it asks.
        if getattr(self, "_messages", -1) >= 0:
            self.abandon()

    def ended(self, code: int) -> "Ended":
        """Reads what Stockade left; called once, when it has ended with this exit code."""
        report, messages = _content(self._report), _content(self._messages).decode("utf-8", "replace")
        self.abandon()
        return Ended(self.command, code, report, messages)


class Ended:
    """What a run left beside its output."""

    def __init__(self, command: List[str], code: int, report: bytes, messages: str) -> None:
        self.command = command
        self.messages = messages
        self.report: Optional[Report] = None
        self.error: Optional[StockadeError] = None
        try:
            self.report = Report.of(json.loads(report)) if report.strip() else None
        except (ValueError, RecursionError) as error:
            self.error = StockadeError(f"the report can't be read: {error}", returncode=code)
        except StockadeError as error:
            self.error = error
        self.returncode = _returncode(code, self.report)
        if self.error is None and (self.report is None or self.report.status == "not_started"):
            self.error = _refusal(code, messages)

    def result(self, stdout: AnyStr, stderr: AnyStr) -> "Result[AnyStr]":
        """The result.

        Raises:
            StockadeError: there was no run, or its report is lost.
        """
        if self.error is not None or self.report is None:
            error = self.error or StockadeError("the report is lost")
            if not self.messages and stderr:
                # Stockade's complaint about its own words stands there.
                text = stderr if isinstance(stderr, str) else bytes(stderr).decode("utf-8", "replace")
                error = type(error)(_said(text)[0] or error.message, hint=_said(text)[1], returncode=error.returncode)
            raise error
        return Result(self.command, self.returncode, stdout, stderr, self.report, self.messages)


def _returncode(code: int, report: Optional[Report]) -> int:
    """As :mod:`subprocess` tells it, by the report: an exit code above 128 may be the program's own."""
    if report is None or report.status == "time_limit":
        return code
    if report.exit_code is not None:
        return report.exit_code
    if report.signal is not None:
        number = getattr(signal, report.signal, None)
        return code if number is None else -int(number)
    return code


def _refusal(code: int, messages: str) -> StockadeError:
    message, hint = _said(messages)
    if code < 0:
        return StockadeError(f"Stockade was ended by {_name(-code)}, and the run with it", returncode=code)
    kinds: Dict[int, Type[StockadeError]] = {_NOT_FOUND: CommandNotFound, _NOT_EXECUTABLE: CommandNotExecutable}
    kind = kinds.get(code, StockadeError)
    return kind(message or f"Stockade ended with exit code {code}, without a report", hint=hint, returncode=code)


def _said(messages: str) -> Tuple[str, Optional[str]]:
    """The message and the hint of a failure."""
    message, _, hint = messages.partition("\nhint: ")
    lines = [line[len("stockade: ") :] if line.startswith("stockade: ") else line for line in message.splitlines()]
    return "\n".join(lines).strip(), hint.strip() or None


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _memory_file(name: str) -> int:
    """A file without a name, above the standard streams, which no other program inherits."""
    try:
        file = os.memfd_create(f"stockade-{name}", os.MFD_CLOEXEC)
    except (AttributeError, OSError):
        with tempfile.TemporaryFile() as other:
            return fcntl.fcntl(other.fileno(), fcntl.F_DUPFD_CLOEXEC, 3)
    return above_streams(file)


def _content(file: int) -> bytes:
    length = min(os.fstat(file).st_size, _LONGEST)
    parts, at = [], 0
    while at < length:
        part = os.pread(file, length - at, at)
        if not part:
            break
        parts.append(part)
        at += len(part)
    return b"".join(parts)


def command_words(args: Any) -> List[str]:
    """The command as words.

    Raises:
        TypeError: it is one string. Stockade starts no shell: name one, as in ``["sh", "-c", LINE]``.
        ValueError: it is empty.
    """
    if isinstance(args, (str, bytes, os.PathLike)):
        raise TypeError('a command is a list of words; for a line of a shell, write `["sh", "-c", LINE]`')
    command = [_word(word) for word in args]
    if not command:
        raise ValueError("the command is empty")
    return command


def _word(word: "StrPath") -> str:
    text = os.fspath(word)
    if not isinstance(text, str):
        raise TypeError(f"a word of a command is a string or a `PathLike` of one, not {text!r}")
    return text
