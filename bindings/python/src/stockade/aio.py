"""The same for :mod:`asyncio`: ``await stockade.aio.run(…)``. A task that is cancelled ends its run."""

from __future__ import annotations

import asyncio
import locale
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Sequence, Tuple, overload

from ._launch import Ended, Launch, command_words
from .errors import StockadeError
from .options import checked, joined
from .process import PATIENCE, empty, is_text
from .results import Report, Result
from .sandbox import Command, Sandbox, captured, code_file, finished

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .sandbox import RunOptions, StreamOptions

_TEXT = ("text", "encoding", "errors")


class Process:
    """A run that goes on: like :class:`asyncio.subprocess.Process`. Its streams carry bytes."""

    def __init__(self, launch: Launch, process: asyncio.subprocess.Process) -> None:
        self._launch, self._process = launch, process
        self._ended: Optional[Ended] = None
        self.args: Sequence[str] = launch.command
        self.pid = process.pid
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr

    @property
    def returncode(self) -> Optional[int]:
        """The program's exit code; ``-N`` where signal N ended it, ``None`` before the end."""
        ended = self._at_end()
        return None if ended is None else ended.returncode

    @property
    def report(self) -> Optional[Report]:
        """The run's report, after its end."""
        ended = self._at_end()
        return None if ended is None else ended.report

    @property
    def error(self) -> Optional[StockadeError]:
        """Why there was no run, or why nothing is known of it."""
        ended = self._at_end()
        return None if ended is None else ended.error

    async def wait(self) -> int:
        """Waits for the end; returns the exit code."""
        code = await self._process.wait()
        return code if self.returncode is None else self.returncode

    async def communicate(self, input: Optional[bytes] = None) -> Tuple[bytes, bytes]:
        """Writes the input, reads what the program prints, and waits for the end."""
        stdout, stderr = await self._process.communicate(input)
        return stdout or b"", stderr or b""

    def send_signal(self, sig: int) -> None:
        """Sends a signal to the program, through Stockade."""
        self._process.send_signal(sig)

    def terminate(self) -> None:
        """Asks the program to end; after two seconds the whole run is ended."""
        self._process.terminate()

    def kill(self) -> None:
        """Ends all processes of the run at once. There is no report then."""
        self._process.kill()

    async def end(self) -> None:
        """Ends the run, and waits until it has ended."""
        if self._process.returncode is None:
            try:
                self._process.terminate()
                await asyncio.wait_for(asyncio.shield(asyncio.ensure_future(self._process.wait())), PATIENCE)
            except ProcessLookupError:
                pass
            except asyncio.TimeoutError:
                self._kill()
            except BaseException:
                self._kill()
                raise
        await self._process.wait()

    def result(self, stdout: bytes, stderr: bytes) -> "Result[bytes]":
        """The result after the end, with this output."""
        ended = self._at_end()
        if ended is None:
            raise ValueError("the run hasn't ended")
        return ended.result(stdout, stderr)

    def _kill(self) -> None:
        try:
            self._process.kill()
        except ProcessLookupError:
            pass

    def _at_end(self) -> Optional[Ended]:
        if self._ended is None and self._process.returncode is not None:
            self._ended = self._launch.ended(self._process.returncode)
        return self._ended


async def _start(task: str, command: List[str], options: Any, streams: Dict[str, Any], flags: Sequence[str]) -> Process:
    launch = Launch(task, command, options, asyncio.get_running_loop(), flags)
    try:
        process = await asyncio.create_subprocess_exec(
            *launch.words, env=launch.env, pass_fds=launch.pass_fds, **streams
        )
    except BaseException:
        launch.abandon()
        raise
    launch.started()
    return Process(launch, process)


async def start(args: Command, *, sandbox: Optional[Sandbox] = None, **options: "Unpack[StreamOptions]") -> Process:
    """Starts a command, in a sandbox or with the options of one."""
    call: Dict[str, Any] = dict(options)
    streams = captured(call, has_input=False)
    return await _start("run", command_words(args), _options(sandbox, call), streams, ())


@overload
async def run(
    args: Command, *, text: Literal[True], sandbox: Optional[Sandbox] = ..., input: Optional[str] = ...,
    encoding: Optional[str] = ..., errors: Optional[str] = ..., **options: "Unpack[RunOptions]",
) -> "Result[str]": ...


@overload
async def run(
    args: Command, *, text: Literal[False] = ..., sandbox: Optional[Sandbox] = ..., input: Optional[bytes] = ...,
    **options: "Unpack[RunOptions]",
) -> "Result[bytes]": ...


async def run(args: Command, *, sandbox: Optional[Sandbox] = None, **options: Any) -> "Result[Any]":
    """Runs a command to its end, in a sandbox or with the options of one. See :meth:`stockade.Sandbox.run`.

    ``ask`` may be an ``async`` callback; it runs in this event loop.
    """
    return await _run("run", command_words(args), sandbox, options, ())


@overload
async def exec_code(
    code: str, lang: str = ..., args: Sequence[str] = ..., *, text: Literal[True], sandbox: Optional[Sandbox] = ...,
    input: Optional[str] = ..., encoding: Optional[str] = ..., errors: Optional[str] = ..., **options: "Unpack[RunOptions]",
) -> "Result[str]": ...


@overload
async def exec_code(
    code: str, lang: str = ..., args: Sequence[str] = ..., *, text: Literal[False] = ...,
    sandbox: Optional[Sandbox] = ..., input: Optional[bytes] = ..., **options: "Unpack[RunOptions]",
) -> "Result[bytes]": ...


async def exec_code(
    code: str, lang: str = "python", args: Sequence[str] = (), *, sandbox: Optional[Sandbox] = None, **options: Any
) -> "Result[Any]":
    """Runs generated code with the least that its text needs. See :meth:`stockade.Sandbox.exec_code`."""
    with code_file(code, lang) as file:
        return await _run("exec", [file, *args], sandbox, options, ["--forget"])


def _options(sandbox: Optional[Sandbox], more: Dict[str, Any]) -> Dict[str, Any]:
    return joined({} if sandbox is None else sandbox.options, checked(more))


async def _run(
    task: str, command: List[str], sandbox: Optional[Sandbox], options: Dict[str, Any], flags: Sequence[str]
) -> "Result[Any]":
    call = dict(options)
    given, is_checked = call.pop("input", None), call.pop("check", False)
    streams = captured(call, given is not None)
    text = {name: streams.pop(name) for name in _TEXT if name in streams}
    encoding, errors = text.get("encoding") or locale.getpreferredencoding(False), text.get("errors") or "strict"
    if isinstance(given, str):
        given = given.encode(encoding, errors)
    chosen = _options(sandbox, call)
    process = await _start(task, command, chosen, streams, flags)
    try:
        stdout, stderr = await process.communicate(given)
    except BaseException:
        await process.end()
        raise
    result: "Result[Any]" = process.result(stdout or empty(False), stderr or empty(False))
    if is_text(text):
        out, err = (_text(part, encoding, errors) for part in (stdout, stderr))
        result = Result(result.args, result.returncode, out, err, result.report, result.messages)
    return finished(result, chosen, is_checked)


def _text(part: bytes, encoding: str, errors: str) -> str:
    """With line ends as the text mode of :mod:`subprocess` has them."""
    return part.decode(encoding, errors).replace("\r\n", "\n").replace("\r", "\n")
