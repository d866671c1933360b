"""Runs programs that you have no reason to trust inside permission profiles that the Linux kernel enforces.

>>> import stockade
>>> result = stockade.run(["python3", "analyse.py"], profile="readonly", capture_output=True, text=True)
>>> result.returncode, result.denials
"""

from __future__ import annotations

from subprocess import DEVNULL, PIPE, STDOUT, CalledProcessError

from . import aio
from ._binary import find_binary
from .asking import Answer, AskCallback, AsyncAskCallback, EscalationRequest, No, Yes
from .errors import CommandNotExecutable, CommandNotFound, PermissionDenied, RunFailed, StockadeError, TimeoutExpired
from .inference import Evidence, Inference, LeastGrants, infer, infer_file
from .judging import Checker, Decision, check
from .process import Popen
from .results import Denial, Escalation, Explains, Question, Report, Result, Rule, SuggestedGrant, Suggestion, visible
from .sandbox import Sandbox, exec_code, popen, run

__version__ = "0.1.0"

__all__ = [
    "DEVNULL",
    "PIPE",
    "STDOUT",
    "Answer",
    "AskCallback",
    "AsyncAskCallback",
    "CalledProcessError",
    "Checker",
    "CommandNotExecutable",
    "CommandNotFound",
    "Decision",
    "Denial",
    "Escalation",
    "EscalationRequest",
    "Evidence",
    "Explains",
    "Inference",
    "LeastGrants",
    "No",
    "PermissionDenied",
    "Popen",
    "Question",
    "Report",
    "Result",
    "Rule",
    "RunFailed",
    "Sandbox",
    "StockadeError",
    "SuggestedGrant",
    "Suggestion",
    "TimeoutExpired",
    "Yes",
    "aio",
    "check",
    "exec_code",
    "find_binary",
    "infer",
    "infer_file",
    "popen",
    "run",
    "visible",
]
