"""A run that goes on: like :class:`subprocess.Popen`, and made of one."""

from __future__ import annotations

import subprocess
from types import TracebackType
from typing import IO, Any, AnyStr, Generic, Mapping, Optional, Sequence, Tuple, Type, Union, cast

from ._launch import Ended, Launch
from .errors import StockadeError
from .results import Denial, Escalation, Report, Result, Suggestion

File = Union[None, int, IO[Any]]

#: How long a run has between SIGTERM and SIGKILL. Stockade itself gives a program two seconds.
PATIENCE = 3.0


class Popen(Generic[AnyStr]):
    """A run. Made by :func:`stockade.popen` and :meth:`stockade.Sandbox.popen`.

    Its process is Stockade's: signals to it reach the program, and killing it ends all processes of the run.
    """

    args: Sequence[str]
    pid: int
    """Stockade's process, whose child the program is."""
    stdin: Optional[IO[AnyStr]]
    stdout: Optional[IO[AnyStr]]
    stderr: Optional[IO[AnyStr]]

    def __init__(self, launch: Launch, streams: Mapping[str, Any]) -> None:
        self._launch = launch
        self._ended: Optional[Ended] = None
        try:
            process: Any = subprocess.Popen(launch.words, env=launch.env, pass_fds=launch.pass_fds, **streams)
        except BaseException:
            launch.abandon()
            raise
        launch.started()
        self._process: "subprocess.Popen[AnyStr]" = process
        self.args = launch.command
        self.pid = self._process.pid
        self.stdin, self.stdout, self.stderr = self._process.stdin, self._process.stdout, self._process.stderr

    def poll(self) -> Optional[int]:
        """The exit code, if the run has ended."""
        return None if self._process.poll() is None else self.returncode

    def wait(self, timeout: Optional[float] = None) -> int:
        """Waits for the end; returns the exit code.

        Raises:
            subprocess.TimeoutExpired: the run goes on.
        """
        self._process.wait(timeout)
        return cast(int, self.returncode)

    def communicate(
        self, input: Optional[AnyStr] = None, timeout: Optional[float] = None
    ) -> "Tuple[Optional[AnyStr], Optional[AnyStr]]":
        """Writes the input, reads what the program prints, and waits for the end."""
        read: "Tuple[Optional[AnyStr], Optional[AnyStr]]" = self._process.communicate(input, timeout)
        return read

    def send_signal(self, sig: int) -> None:
        """Sends a signal to the program, through Stockade."""
        self._process.send_signal(sig)

    def terminate(self) -> None:
        """Asks the program to end; after two seconds the whole run is ended."""
        self._process.terminate()

    def kill(self) -> None:
        """Ends all processes of the run at once. There is no report then."""
        self._process.kill()

    def end(self) -> None:
        """Ends the run, and waits until it has ended."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()

    @property
    def returncode(self) -> Optional[int]:
        """The program's exit code; ``-N`` where signal N ended it, ``None`` before the end."""
        ended = self._at_end()
        return None if ended is None else ended.returncode

    @property
    def error(self) -> Optional[StockadeError]:
        """Why there was no run, or why nothing is known of it."""
        ended = self._at_end()
        return None if ended is None else ended.error

    @property
    def report(self) -> Optional[Report]:
        """The run's report, after its end."""
        ended = self._at_end()
        return None if ended is None else ended.report

    @property
    def messages(self) -> str:
        """What Stockade said to the run."""
        ended = self._at_end()
        return "" if ended is None else ended.messages

    @property
    def denials(self) -> Tuple[Denial, ...]:
        """What was refused."""
        return self.report.denials if self.report else ()

    @property
    def suggestion(self) -> Optional[Suggestion]:
        """The least that would have to be granted."""
        return self.report.suggestion if self.report else None

    @property
    def escalation(self) -> Optional[Escalation]:
        """What was asked, and answered."""
        return self.report.escalation if self.report else None

    def result(self, stdout: AnyStr, stderr: AnyStr) -> "Result[AnyStr]":
        """The result after the end, with this output.

        Raises:
            StockadeError: there was no run, or its report is lost.
            ValueError: it hasn't ended.
        """
        ended = self._at_end()
        if ended is None:
            raise ValueError("the run hasn't ended")
        return ended.result(stdout, stderr)

    def _at_end(self) -> Optional[Ended]:
        if self._ended is None and self._process.returncode is not None:
            self._ended = self._launch.ended(self._process.returncode)
        return self._ended

    def __enter__(self) -> "Popen[AnyStr]":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if kind is not None:
            self.end()
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        try:
            if self.stdin is not None:
                self.stdin.close()
        except BrokenPipeError:
            pass
        finally:
            self.wait()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: pid {self.pid}, returncode {self.returncode}, args {list(self.args)!r}>"


def empty(is_text: bool) -> Any:
    """What an output is that wasn't captured."""
    return "" if is_text else b""


def is_text(streams: Mapping[str, Any]) -> bool:
    """Whether these streams carry text."""
    return bool(streams.get("text") or streams.get("encoding") or streams.get("errors"))
