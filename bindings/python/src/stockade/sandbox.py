"""Runs of programs inside a permission profile."""

from __future__ import annotations

import contextlib
import os
import tempfile
from subprocess import PIPE
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Literal, Mapping, Optional, Sequence, Tuple, Union, overload

from ._launch import Launch, command_words
from .errors import TimeoutExpired
from .options import Options, StrPath, checked, from_flags, joined
from .process import File, Popen, empty, is_text
from .results import Result

if TYPE_CHECKING:
    from typing_extensions import TypedDict, Unpack

    class RunOptions(Options, total=False):
        """Options of a sandbox, and of one run that is waited for."""

        capture_output: bool
        stdin: File
        stdout: File
        stderr: File
        check: bool

    class StreamOptions(Options, total=False):
        """Options of a sandbox, and of the streams of one run."""

        stdin: File
        stdout: File
        stderr: File
        bufsize: int

    class CallOptions(TypedDict, total=False):
        """Options of one run in a sandbox."""

        capture_output: bool
        stdin: File
        stdout: File
        stderr: File
        check: bool
        timeout: float

    class CallStreams(TypedDict, total=False):
        """Options of one run in a sandbox that isn't waited for."""

        stdin: File
        stdout: File
        stderr: File
        bufsize: int
        timeout: float


Command = Sequence[StrPath]

_STREAMS = ("stdin", "stdout", "stderr", "bufsize", "text", "encoding", "errors")
_SUFFIXES = {"python": ".py", "javascript": ".js", "typescript": ".ts", "shell": ".sh"}


class Sandbox:
    """What runs may do: kept, used as often as you like, from any thread, and never changed.

    >>> sandbox = Sandbox(profile="readonly", read="/srv/data")
    >>> sandbox.run(["head", "-n", "1", "/srv/data/sales.csv"], capture_output=True, text=True).stdout
    """

    def __init__(self, **options: "Unpack[Options]") -> None:
        self._options: Mapping[str, Any] = checked(options)

    @property
    def options(self) -> Dict[str, Any]:
        """A copy of its options."""
        return dict(self._options)

    def allowing(self, *flags: str, **options: "Unpack[Options]") -> "Sandbox":
        """A sandbox that allows this as well. Options that aren't lists take the place of its own.

        ``flags`` are those of a denial or suggestion: ``sandbox.allowing(*denial.grant)``. The untrusted program chose
        what they name: show them to a person, or compare them with what you expect.
        """
        wider = Sandbox()
        more = joined(from_flags(flags), checked(options))
        wider._options = joined(self._options, more)
        return wider

    @overload
    def run(
        self, args: Command, *, text: Literal[True], input: Optional[str] = ..., encoding: Optional[str] = ...,
        errors: Optional[str] = ..., **call: "Unpack[CallOptions]",
    ) -> "Result[str]": ...

    @overload
    def run(
        self, args: Command, *, encoding: str, input: Optional[str] = ..., errors: Optional[str] = ...,
        **call: "Unpack[CallOptions]",
    ) -> "Result[str]": ...

    @overload
    def run(
        self, args: Command, *, text: Literal[False] = ..., input: Optional[bytes] = ..., **call: "Unpack[CallOptions]"
    ) -> "Result[bytes]": ...

    def run(self, args: Command, **call: Any) -> "Result[Any]":
        """Runs a command to its end: :func:`subprocess.run`, confined.

        Raises:
            PermissionDenied: with ``check=True``, where a refusal explains the failure.
            RunFailed: with ``check=True``, where it failed otherwise; a :exc:`subprocess.CalledProcessError`.
            TimeoutExpired: it was ended past its ``timeout``.
            StockadeError: Stockade refused to start it.
        """
        return self._run("run", command_words(args), call)

    @overload
    def popen(
        self, args: Command, *, text: Literal[True], encoding: Optional[str] = ..., errors: Optional[str] = ...,
        **call: "Unpack[CallStreams]",
    ) -> "Popen[str]": ...

    @overload
    def popen(
        self, args: Command, *, encoding: str, errors: Optional[str] = ..., **call: "Unpack[CallStreams]"
    ) -> "Popen[str]": ...

    @overload
    def popen(self, args: Command, *, text: Literal[False] = ..., **call: "Unpack[CallStreams]") -> "Popen[bytes]": ...

    def popen(self, args: Command, **call: Any) -> "Popen[Any]":
        """Starts a command: :class:`subprocess.Popen`, confined."""
        streams = _taken(call, _STREAMS)
        return Popen(Launch("run", command_words(args), joined(self._options, checked(call))), streams)

    @overload
    def exec_code(
        self, code: str, lang: str = ..., args: Sequence[str] = ..., *, text: Literal[True], input: Optional[str] = ...,
        encoding: Optional[str] = ..., errors: Optional[str] = ..., **call: "Unpack[CallOptions]",
    ) -> "Result[str]": ...

    @overload
    def exec_code(
        self, code: str, lang: str = ..., args: Sequence[str] = ..., *, encoding: str, input: Optional[str] = ...,
        errors: Optional[str] = ..., **call: "Unpack[CallOptions]",
    ) -> "Result[str]": ...

    @overload
    def exec_code(
        self, code: str, lang: str = ..., args: Sequence[str] = ..., *, text: Literal[False] = ...,
        input: Optional[bytes] = ..., **call: "Unpack[CallOptions]",
    ) -> "Result[bytes]": ...

    def exec_code(self, code: str, lang: str = "python", args: Sequence[str] = (), **call: Any) -> "Result[Any]":
        """Runs generated code: ``stockade exec``. Without a ``profile``, with the least that the code's text needs."""
        with code_file(code, lang) as file:
            return self._run("exec", [file, *args], call, ["--forget"])

    def _run(self, task: str, command: List[str], call: Dict[str, Any], flags: Sequence[str] = ()) -> "Result[Any]":
        call = dict(call)
        given, is_checked = call.pop("input", None), call.pop("check", False)
        streams = captured(call, given is not None)
        options = joined(self._options, checked(call))
        process: "Popen[Any]" = Popen(Launch(task, command, options, flags=flags), streams)
        with process:
            stdout, stderr = process.communicate(given)
            nothing = empty(is_text(streams))
            result = process.result(nothing if stdout is None else stdout, nothing if stderr is None else stderr)
        return finished(result, options, is_checked)

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items() if name != "env")
        return f"Sandbox({options})"


def captured(call: Dict[str, Any], has_input: bool) -> Dict[str, Any]:
    """The streams of a run that is waited for, taken out of its options."""
    streams = _taken(call, _STREAMS)
    if has_input:
        if streams.get("stdin") is not None:
            raise ValueError("`stdin` and `input` can't be given together")
        streams["stdin"] = PIPE
    if call.pop("capture_output", False):
        if streams.get("stdout") is not None or streams.get("stderr") is not None:
            raise ValueError("`stdout` and `stderr` can't be given together with `capture_output`")
        streams["stdout"] = streams["stderr"] = PIPE
    return streams


def finished(result: "Result[Any]", options: Mapping[str, Any], is_checked: bool) -> "Result[Any]":
    """The result, or what is raised for it."""
    if result.status == "time_limit":
        raise TimeoutExpired(result, float(options.get("timeout", 0)))
    if is_checked:
        result.check_returncode()
    return result


def _taken(call: Dict[str, Any], names: Sequence[str]) -> Dict[str, Any]:
    return {name: call.pop(name) for name in names if name in call}


@contextlib.contextmanager
def code_file(code: str, lang: str) -> Iterator[str]:
    """A file with this code, in a directory of its own."""
    suffix = _SUFFIXES.get(lang)
    if suffix is None:
        raise ValueError(f"`lang` is one of {', '.join(_SUFFIXES)}, not {lang!r}")
    with tempfile.TemporaryDirectory(prefix="stockade-code-") as directory:
        path = os.path.join(os.path.realpath(directory), "code" + suffix)
        with open(path, "x", encoding="utf-8", newline="") as file:
            file.write(code)
        yield path


def _split(options: Dict[str, Any]) -> Tuple[Sandbox, Dict[str, Any]]:
    """The sandbox of a call that names everything at once, and what is left for the run."""
    call = _taken(options, ("input", "check", "capture_output", *_STREAMS))
    return Sandbox(**options), call


@overload
def run(
    args: Command, *, text: Literal[True], input: Optional[str] = ..., encoding: Optional[str] = ...,
    errors: Optional[str] = ..., **options: "Unpack[RunOptions]",
) -> "Result[str]": ...


@overload
def run(
    args: Command, *, encoding: str, input: Optional[str] = ..., errors: Optional[str] = ...,
    **options: "Unpack[RunOptions]",
) -> "Result[str]": ...


@overload
def run(
    args: Command, *, text: Literal[False] = ..., input: Optional[bytes] = ..., **options: "Unpack[RunOptions]"
) -> "Result[bytes]": ...


def run(args: Command, **options: Any) -> "Result[Any]":
    """Runs a command to its end, inside a permission profile. See :meth:`Sandbox.run`.

    >>> run(["python3", "analyse.py"], profile="readonly", read=["/srv/data"], capture_output=True, text=True)
    """
    sandbox, call = _split(options)
    return sandbox.run(args, **call)


@overload
def popen(
    args: Command, *, text: Literal[True], encoding: Optional[str] = ..., errors: Optional[str] = ...,
    **options: "Unpack[StreamOptions]",
) -> "Popen[str]": ...


@overload
def popen(
    args: Command, *, encoding: str, errors: Optional[str] = ..., **options: "Unpack[StreamOptions]"
) -> "Popen[str]": ...


@overload
def popen(args: Command, *, text: Literal[False] = ..., **options: "Unpack[StreamOptions]") -> "Popen[bytes]": ...


def popen(args: Command, **options: Any) -> "Popen[Any]":
    """Starts a command inside a permission profile. See :meth:`Sandbox.popen`."""
    sandbox, call = _split(options)
    return sandbox.popen(args, **call)


@overload
def exec_code(
    code: str, lang: str = ..., args: Sequence[str] = ..., *, text: Literal[True], input: Optional[str] = ...,
    encoding: Optional[str] = ..., errors: Optional[str] = ..., **options: "Unpack[RunOptions]",
) -> "Result[str]": ...


@overload
def exec_code(
    code: str, lang: str = ..., args: Sequence[str] = ..., *, encoding: str, input: Optional[str] = ...,
    errors: Optional[str] = ..., **options: "Unpack[RunOptions]",
) -> "Result[str]": ...


@overload
def exec_code(
    code: str, lang: str = ..., args: Sequence[str] = ..., *, text: Literal[False] = ..., input: Optional[bytes] = ...,
    **options: "Unpack[RunOptions]",
) -> "Result[bytes]": ...


def exec_code(code: str, lang: str = "python", args: Sequence[str] = (), **options: Any) -> "Result[Any]":
    """Runs generated code with the least that its text needs. See :meth:`Sandbox.exec_code`."""
    sandbox, call = _split(options)
    return sandbox.exec_code(code, lang, args, **call)
