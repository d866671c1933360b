"""What a run left: its :class:`Result`, and what was refused in it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import Any, AnyStr, Generic, Iterable, Literal, Mapping, Optional, Sequence, Tuple

from .errors import StockadeError

Explains = Literal["yes", "perhaps", "no"]
"""Whether a denial explains why a run failed. Each of these words is true as a ``bool``: compare."""

#: The accesses in the words of Stockade's messages.
_DOING = {
    "read": "reading",
    "write": "writing",
    "create": "creating",
    "delete": "deleting",
    "metadata": "changing the attributes of",
    "execute": "starting",
    "connect": "connecting to",
    "listen": "listening on",
    "socket": "the socket",
    "resolve": "looking up",
    "signal": "sending a signal to",
    "spawn": "making another",
    "variable": "the variable",
    "syscall": "the system call",
}


def visible(text: str, longest: int = 500) -> str:
    """A text of the untrusted program, as it may be shown to a person: on one line, escaped, and bounded."""
    shown = "".join(one if one.isprintable() else one.encode("unicode_escape", "backslashreplace").decode() for one in text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


@dataclass(frozen=True)
class Rule:
    """What refused an access: the rule's text, and where it stands."""

    text: str
    origin: str


@dataclass(frozen=True)
class Denial:
    """A refused access. Texts are the program's to choose: ``str(denial)`` escapes them."""

    access: str
    """The kind of access: ``read``, ``write``, ``create``, ``connect`` and so on."""
    target: str
    """What it was to, as the kernel names it."""
    asked: str
    """The same as the program named it."""
    syscall: str
    program: str
    pid: int
    count: int
    """How often it was refused."""
    explains: Explains
    """``yes``: the program's last words name it as what made the run fail; ``perhaps``: it is one of at most three that may
    have; ``no``."""
    usual: bool
    """Whether programs try it every time and live with the refusal."""
    rule: Optional[Rule]
    """What refused it; ``None`` where nothing grants it."""
    grant: Optional[Tuple[str, ...]]
    """The least flags that would allow it, for :meth:`Sandbox.allowing`; ``None`` where no grant does."""
    profile: Optional[str]
    """The lowest shipped profile that would allow it."""

    @property
    def reason(self) -> str:
        """Why it was refused."""
        return "nothing grants it" if self.rule is None else visible(self.rule.text)

    @property
    def candidate(self) -> str:
        """The access with the flags that would allow it, as Stockade lists what was perhaps the reason."""
        doing = doing_what(self.access, self.target, self.syscall)
        if self.grant is None:
            return f"{doing} ({self.reason})"
        whole = f"{doing}: `{command_line(self.grant)}`"
        # A long target isn't said twice.
        is_short = len(whole) <= 68 or self.target not in self.grant
        return whole if is_short else f"{_DOING[self.access]}: `{command_line(self.grant)}`"

    def __str__(self) -> str:
        program = visible(self.program.rsplit("/", 1)[-1]) or f"process {self.pid}"
        return f"`{program}` was refused {doing_what(self.access, self.target, self.syscall)} ({self.reason})"

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Denial":
        rule, grant = told["rule"], told["grant"]
        return cls(
            access=told["access"],
            target=told["target"],
            asked=told["asked"],
            syscall=told["syscall"],
            program=told["program"],
            pid=told["pid"],
            count=told["count"],
            explains=told["explains"],
            usual=told["usual"],
            rule=None if rule is None else Rule(rule["text"], rule["origin"]),
            grant=None if grant is None else tuple(grant),
            profile=told["profile"],
        )


def perhaps(denials: Sequence[Denial]) -> str:
    """The list of those that were perhaps the reason, in the words of Stockade's messages; empty where none was."""
    return perhaps_reason([denial.candidate for denial in denials if denial.explains == "perhaps"])


def perhaps_reason(candidates: Sequence[str]) -> str:
    return "\n  ".join(["refused, perhaps the reason:", *candidates]) if candidates else ""


def doing_what(access: str, target: str, syscall: str = "") -> str:
    """An access in the words of Stockade's messages."""
    if access == "socket" and syscall == "socket":
        return f"a {visible(target)} socket"
    if access == "connect" and target == "internet":
        return "connecting to the internet"
    is_call = access == "signal" and target == syscall
    return f"{_DOING['syscall' if is_call else access]} `{visible(target)}`"


def command_line(words: Iterable[str]) -> str:
    """Words as a shell reads them, for a person."""
    return " ".join(shlex.quote(visible(word)) for word in words)


@dataclass(frozen=True)
class SuggestedGrant:
    """What would allow an access that was perhaps the reason."""

    access: str
    target: str
    flags: Tuple[str, ...]
    """Words for :meth:`Sandbox.allowing`; empty where no grant allows it."""
    profile: Optional[str]
    """The lowest shipped profile that would allow it."""


@dataclass(frozen=True)
class Suggestion:
    """The least that would have to be granted for a run to succeed."""

    flags: Tuple[str, ...]
    """Words for :meth:`Sandbox.allowing`. Empty where there would be too many, or where no denial is ``yes``."""
    profile: Optional[str]
    """The lowest shipped profile that would do."""
    candidates: Tuple[SuggestedGrant, ...]
    """Where no denial is ``yes``: the grant of each that is ``perhaps``, likeliest first."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Suggestion":
        candidates = (
            SuggestedGrant(one["access"], one["target"], tuple(one["flags"]), one["profile"]) for one in told["candidates"]
        )
        return cls(tuple(told["flags"]), told["profile"], tuple(candidates))

    @property
    def hint(self) -> Optional[str]:
        """The same as a command line."""
        flags = command_line(self.flags)
        profile = f"--profile {self.profile}" if self.profile else ""
        return (f"{flags}, or more widely {profile}" if flags and profile else flags or profile) or None


@dataclass(frozen=True)
class Question:
    """A question that was asked during the run, with its answer."""

    access: str
    target: str
    answer: str
    """``yes``, ``no`` or ``silence``, which is a no."""
    lifetime: Optional[str]
    by: str
    reason: Optional[str]
    grants: Tuple[Tuple[str, ...], ...]
    """What was granted for it."""
    waited_ms: int

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Question":
        granted = told["granted"] or {}
        return cls(
            access=told["access"],
            target=told["target"],
            answer=told["answer"],
            lifetime=told.get("lifetime"),
            by=told["by"],
            reason=told["reason"],
            grants=tuple(tuple(grant) for grant in granted.get("grants", ())),
            waited_ms=told["waited_ms"],
        )


@dataclass(frozen=True)
class Escalation:
    """What was asked in the run."""

    requests: Tuple[Question, ...]
    ended: Optional[str]
    """Why nothing more was asked, where that was so."""


@dataclass(frozen=True)
class Report:
    """The run's report, read. ``json`` has all of it, by ``schemas/report.schema.json``."""

    run: str
    status: str
    """``completed``, ``permission_denied``, ``time_limit``, ``resource_limit``, ``signalled`` or ``not_started``."""
    exit_code: Optional[int]
    signal: Optional[str]
    limit: Optional[str]
    denials: Tuple[Denial, ...]
    suggestion: Optional[Suggestion]
    escalation: Optional[Escalation]
    json: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Report":
        """Reads it.

        Raises:
            StockadeError: it isn't a report of a version that this package knows.
        """
        try:
            if told["version"] != 1:
                raise StockadeError(f"the report has version {told['version']}, which this package doesn't know")
            suggestion, escalation = told["suggestion"], told["escalation"]
            return cls(
                run=told["run"],
                status=told["status"],
                exit_code=told["exit_code"],
                signal=told["signal"],
                limit=told["limit"],
                denials=tuple(Denial.of(denial) for denial in told["denials"]),
                suggestion=suggestion and Suggestion.of(suggestion),
                escalation=escalation
                and Escalation(tuple(Question.of(one) for one in escalation["requests"]), escalation["ended"]),
                json=told,
            )
        except (KeyError, TypeError) as error:
            raise StockadeError(f"the report isn't complete: {error!r}") from error


@dataclass(frozen=True)
class Result(Generic[AnyStr]):
    """How a run ended, with the habits of :class:`subprocess.CompletedProcess`."""

    args: Sequence[str]
    returncode: int
    """The program's own exit code; ``-N`` where signal N ended it; 124 past the ``timeout``."""
    stdout: AnyStr
    """What the program printed; empty where it wasn't captured."""
    stderr: AnyStr
    report: Report
    messages: str = ""
    """What Stockade said to the run: its refusal in words, with a hint."""

    @property
    def denials(self) -> Tuple[Denial, ...]:
        """What was refused, the likeliest cause of a failure first."""
        return self.report.denials

    @property
    def suggestion(self) -> Optional[Suggestion]:
        """The least that would have to be granted; ``None`` where no denial may explain a failure."""
        return self.report.suggestion

    @property
    def escalation(self) -> Optional[Escalation]:
        """What was asked, and answered."""
        return self.report.escalation

    @property
    def status(self) -> str:
        """How it went: see :attr:`Report.status`."""
        return self.report.status

    def check_returncode(self) -> None:
        """Raises if the run failed.

        Raises:
            PermissionDenied: a refusal explains it.
            RunFailed: it failed by itself, or on a limit. The text lists what was perhaps the reason.
        """
        from .errors import PermissionDenied, RunFailed

        if self.returncode == 0:
            return
        raise PermissionDenied(self) if self.status == "permission_denied" else RunFailed(self)
