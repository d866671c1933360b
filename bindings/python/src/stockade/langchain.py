"""Tools for LangChain: code and commands of a model run in a sandbox.

    from stockade.langchain import StockadePythonTool, StockadeShellTool

    tools = [StockadePythonTool(sandbox=Sandbox(profile="readonly", timeout=60))]
"""

from __future__ import annotations

import subprocess
from typing import Any, Dict, Literal, Optional, Tuple, Type

from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel, ConfigDict, Field

from . import aio
from .errors import StockadeError, TimeoutExpired
from .results import Denial, Result, command_line, perhaps
from .sandbox import Sandbox


_OUTPUT = 8 * 1024 * 1024


class _Code(BaseModel):
    code: str = Field(description="The whole script. It prints what it finds out.")


class _Line(BaseModel):
    command: str = Field(description="The command line, for a POSIX shell.")


class _Tool(BaseTool):
    """What both have: a refusal is the tool's error, with its reason; the artifact is the run's :class:`Result`."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    sandbox: Sandbox = Field(default_factory=lambda: Sandbox(timeout=60.0))
    """What the tool may do. Without an ``output_limit`` of its own, a run is ended past 8 MiB of output."""
    longest_output: int = 20_000
    """Characters of output that the model gets."""
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True

    def _with_limit(self) -> Sandbox:
        """All output is kept here until the run's end, so it has to be bounded while the run goes on."""
        return self.sandbox if "output_limit" in self.sandbox.options else self.sandbox.allowing(output_limit=_OUTPUT)

    def _told(self, result: "Result[str]") -> Tuple[str, "Result[str]"]:
        output = _bounded(result.stdout + result.stderr, self.longest_output)
        if result.returncode == 0:
            return output or "(no output)", result
        if result.status == "permission_denied":
            causes = [denial for denial in result.denials if denial.explains == "yes"][:3]
            raise ToolException("\n".join([output.rstrip(), *map(_denied, causes)]).strip())
        limit = f"\nended past the limit `{result.report.limit}`" if result.report.limit else ""
        said = f"{output.rstrip()}{limit}\nexit code {result.returncode}\n{perhaps(result.denials)}"
        raise ToolException(said.strip())


class StockadePythonTool(_Tool):
    """Runs a script. Without a profile in its sandbox, with the least that the script's text needs."""

    name: str = "run_script"
    description: str = (
        "Runs a script in a sandbox and returns what it prints. It starts anew each time. "
        "Access that the sandbox refuses is told as `Permission denied`."
    )
    args_schema: Any = _Code
    lang: str = "python"
    """Or ``javascript``, ``typescript``, ``shell``."""

    def _run(self, code: str, **_: Any) -> Tuple[str, "Result[str]"]:
        with _errors():
            return self._told(self._with_limit().exec_code(code, self.lang, **_streams()))

    async def _arun(self, code: str, **_: Any) -> Tuple[str, "Result[str]"]:
        with _errors():
            return self._told(await aio.exec_code(code, self.lang, sandbox=self._with_limit(), **_streams()))


class StockadeShellTool(_Tool):
    """Runs a command line."""

    name: str = "run_command"
    description: str = (
        "Runs a command line in a sandbox and returns what it prints. "
        "Access that the sandbox refuses is told as `Permission denied`."
    )
    args_schema: Any = _Line

    def _run(self, command: str, **_: Any) -> Tuple[str, "Result[str]"]:
        with _errors():
            return self._told(self._with_limit().run(["sh", "-c", command], **_streams()))

    async def _arun(self, command: str, **_: Any) -> Tuple[str, "Result[str]"]:
        with _errors():
            return self._told(await aio.run(["sh", "-c", command], sandbox=self._with_limit(), **_streams()))


def _streams() -> Dict[str, Any]:
    return {"capture_output": True, "text": True, "encoding": "utf-8", "errors": "replace", "stdin": subprocess.DEVNULL}


class _errors:
    """What Stockade refuses, and a run past its time, are the tool's errors."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], _: Any) -> None:
        if isinstance(error, TimeoutExpired):
            raise ToolException(f"the run was ended after {error.timeout} s") from error
        if isinstance(error, StockadeError):
            raise ToolException(str(error)) from error


def _denied(denial: Denial) -> str:
    would = f"; would grant: {command_line(denial.grant)}" if denial.grant else "; no grant opens it"
    return f"Permission denied: {denial}{would}"


def _bounded(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
