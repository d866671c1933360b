"""An executor for smolagents: an agent's code runs in a sandbox, its tools run outside.

    from smolagents import CodeAgent
    from stockade.smolagents import StockadePythonExecutor

    agent = CodeAgent(tools=[…], model=…, executor=StockadePythonExecutor(profile="readonly"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Tuple

from smolagents.local_python_executor import CodeOutput, PythonExecutor

from ._session import Session
from .sandbox import Sandbox

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Options

_FINAL = "final_answer"


class StockadePythonExecutor(PythonExecutor):  # type: ignore[misc,unused-ignore]
    """Runs an agent's code in a Python of its own, which keeps its variables from step to step.

    The kernel decides what the code may do, so any import is allowed: give the agent
    ``additional_authorized_imports=["*"]`` for its prompt to say so. Tools and managed agents are the agent's author's,
    and run outside, with the rights of this process; what they return crosses as plain values, or as a handle.

    Args:
        sandbox: what the code may do; or give the options of one.
        step_timeout: seconds for one step. After that the process is ended, and its variables are lost.
        python: the interpreter; by default this one.
        max_print_outputs_length: bytes of output that are kept of a step.
    """

    def __init__(
        self,
        sandbox: Optional[Sandbox] = None,
        *,
        step_timeout: Optional[float] = None,
        python: Optional[str] = None,
        max_print_outputs_length: int = 50_000,
        **options: "Unpack[Options]",
    ) -> None:
        chosen = (sandbox or Sandbox()).allowing(**options)
        self._session = Session(chosen, python=python, longest_output=max_print_outputs_length)
        self._session.enders = (_FINAL,)
        self._step_timeout = step_timeout
        self._final: Optional[Tuple[Any]] = None
        self.state: Dict[str, Any] = {"_print_outputs": ""}
        """The output of a step that failed, which an agent looks for here."""

    def send_tools(self, tools: Mapping[str, Any]) -> None:
        """Makes tools callable from the code."""
        functions = dict(tools)
        final = functions.get(_FINAL)
        if final is not None:
            functions[_FINAL] = lambda *args, **kwargs: self._keep_final(final(*args, **kwargs))
        self._session.set_functions(functions)

    def send_variables(self, variables: Mapping[str, Any]) -> None:
        """Sets variables of the code."""
        self._session.set_variables(variables)

    def __call__(self, code_action: str) -> CodeOutput:
        """Runs a step."""
        self._final = None
        self.state["_print_outputs"] = ""
        answer = self._session.run(code_action, self._step_timeout)
        self.state["_print_outputs"] = answer.output
        if answer.error is not None:
            raise RuntimeError(answer.error)
        # The code may say that it has called the tool: only the call counts.
        if answer.ending == _FINAL and self._final is not None:
            return CodeOutput(output=self._final[0], logs=answer.output, is_final_answer=True)
        return CodeOutput(output=answer.value, logs=answer.output, is_final_answer=False)

    def cleanup(self) -> None:
        """Ends the process, and all that it started."""
        self._session.close()

    def _keep_final(self, value: Any) -> Any:
        # Nothing of it has to come back from the sandbox.
        self._final = (value,)
        return None
