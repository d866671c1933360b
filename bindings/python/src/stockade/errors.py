"""What can go wrong. ``CalledProcessError`` and ``TimeoutExpired`` of :mod:`subprocess` are bases, so its habits hold."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Optional, Tuple

if TYPE_CHECKING:
    from .results import Denial, Result, Suggestion


class StockadeError(Exception):
    """Stockade couldn't do what it was asked for: it refused to start the run, was called wrongly, or was ended.

    The program didn't run, or the report of what it did is lost.
    """

    def __init__(self, message: str, *, hint: Optional[str] = None, returncode: Optional[int] = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.returncode = returncode

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n\nhint: {self.hint}"


class CommandNotFound(StockadeError, FileNotFoundError):
    """There is no such command (exit code 127)."""


class CommandNotExecutable(StockadeError, PermissionError):
    """The command's file can't be executed (exit code 126)."""


class RunFailed(subprocess.CalledProcessError):
    """With ``check=True``: the run failed. The text lists the refusals that were perhaps the reason."""

    def __init__(self, result: "Result[Any]") -> None:
        super().__init__(result.returncode, result.args, result.stdout, result.stderr)
        self.result = result

    @property
    def denials(self) -> "Tuple[Denial, ...]":
        """What was refused, the likeliest cause first."""
        return self.result.denials

    @property
    def suggestion(self) -> "Optional[Suggestion]":
        """The least that would have to be granted, or what may have to be, if a grant would help."""
        return self.result.suggestion

    @property
    def hint(self) -> Optional[str]:
        """What to grant, as words of a command line."""
        return None if self.suggestion is None else self.suggestion.hint

    def __str__(self) -> str:
        from .results import perhaps

        return "\n".join(filter(None, [super().__str__(), perhaps(self.denials)]))

    def __reduce__(self) -> Any:
        return (type(self), (self.result,))


class PermissionDenied(RunFailed):
    """With ``check=True``: the run failed, and a refusal explains it."""

    def __str__(self) -> str:
        causes = [denial for denial in self.denials if denial.explains == "yes"]
        lines = [f"Permission denied: {denial}" for denial in causes[:3]] or ["Permission denied"]
        return "\n".join(lines) + (f"\n\nhint: {self.hint}" if self.hint else "")


class TimeoutExpired(subprocess.TimeoutExpired):
    """The run was ended past its ``timeout``, with all its processes."""

    def __init__(self, result: "Result[Any]", timeout: float) -> None:
        super().__init__(result.args, timeout, result.stdout, result.stderr)
        self.result = result

    def __reduce__(self) -> Any:
        return (type(self), (self.result, self.timeout))
