"""What code needs, from its text. Nothing of it runs."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Tuple

from ._binary import find_binary
from ._launch import _said
from .errors import StockadeError
from .options import StrPath, from_flags
from .sandbox import Sandbox

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Options


@dataclass(frozen=True)
class Evidence:
    """A place in the text that needs something. Its texts are the code's own."""

    effect: str
    target: str
    line: int
    column: int
    text: str


@dataclass(frozen=True)
class LeastGrants:
    """A profile and flags that allow what the text needs, and no more."""

    profile: str
    flags: Tuple[str, ...]

    def sandbox(self, **options: "Unpack[Options]") -> Sandbox:
        """A sandbox with these grants. The code chose what they name: show them to a person first."""
        return Sandbox(profile=self.profile).allowing(*self.flags, **options)


@dataclass(frozen=True)
class Inference:
    """What code needs. ``json`` has all of it."""

    language: str
    profile: str
    """The lowest shipped profile that allows all of it."""
    confidence: float
    evidence: Tuple[Evidence, ...]
    reads: Tuple[str, ...]
    writes: Tuple[str, ...]
    hosts: Tuple[str, ...]
    env: Tuple[str, ...]
    commands: Tuple[str, ...]
    listens: bool
    dynamic: Tuple[str, ...]
    """Why something can't be told from the text."""
    least_grants: LeastGrants
    json: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Inference":
        try:
            least = told["least_grants"]
            return cls(
                language=told["language"],
                profile=told["profile"],
                confidence=float(told["confidence"]),
                evidence=tuple(
                    Evidence(one["effect"], one["target"], one["line"], one["column"], one["text"])
                    for one in told["evidence"]
                ),
                reads=tuple(told["reads"]),
                writes=tuple(told["writes"]),
                hosts=tuple(told["hosts"]),
                env=tuple(told["env"]),
                commands=tuple(told["commands"]),
                listens=told["listens"],
                dynamic=tuple(told["dynamic"]),
                least_grants=LeastGrants(least["profile"], tuple(least["flags"])),
                json=told,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise StockadeError(f"the answer of `stockade infer` isn't complete: {error!r}") from error


def infer(code: str, lang: str = "python", *, root: Optional[StrPath] = None) -> Inference:
    """What this code needs. ``lang`` is ``python``, ``javascript``, ``typescript`` or ``shell``."""
    return _infer(["--lang", lang], "-", root, code.encode("utf-8", "surrogatepass"))


def infer_file(path: StrPath, lang: Optional[str] = None, *, root: Optional[StrPath] = None) -> Inference:
    """What the script in this file needs."""
    return _infer(["--lang", lang] if lang else [], os.fspath(path), root, None)


def _infer(flags: List[str], file: str, root: Optional[StrPath], code: Optional[bytes]) -> Inference:
    if root is not None:
        flags = [*flags, "--root", os.fspath(root)]
    return Inference.of(json.loads(ask([find_binary(), "infer", "--json", *flags, "--", file], code)))


def ask(line: List[str], given: Optional[bytes], answers: Tuple[int, ...] = (0,)) -> bytes:
    """The output of a task that answers and runs nothing.

    Raises:
        StockadeError: its exit code isn't that of an answer.
    """
    streams: Any = {"input": given} if given is not None else {"stdin": subprocess.DEVNULL}
    ended: "subprocess.CompletedProcess[bytes]" = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **streams)
    if ended.returncode not in answers:
        message, hint = _said(ended.stderr.decode("utf-8", "replace"))
        raise StockadeError(message or f"it ended with {ended.returncode}", hint=hint, returncode=ended.returncode)
    return ended.stdout
