"""The drop-ins, each with the real package: skipped, aloud, where that isn't installed."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import time
import unittest
from typing import Any, List, Optional, Tuple

import stockade
from stockade import Sandbox

from .place import PlaceTest, is_alive


def needs(package: str) -> Any:
    is_there = importlib.util.find_spec(package) is not None
    if not is_there and os.environ.get("STOCKADE_TEST_ALL") == "1":
        raise RuntimeError(f"{package} isn't installed")
    return unittest.skipUnless(is_there, f"{package} isn't installed")


@needs("smolagents")
class Smolagents(PlaceTest):
    def executor(self, **options: Any) -> Any:
        from stockade.smolagents import StockadePythonExecutor

        executor = StockadePythonExecutor(**options)
        self.addCleanup(executor.cleanup)
        executor.send_tools({})
        return executor

    def test_an_agent_with_a_tool_solves_its_task(self) -> None:
        """The agent of smolagents' guided tour, with a scripted model in the place of one that has to be reached."""
        from smolagents import CodeAgent, Model, tool
        from smolagents.models import ChatMessage, MessageRole
        from stockade.smolagents import StockadePythonExecutor

        closed = self.file("closed.txt")
        steps = [
            "seconds = distance('Pont des Arts') / 16\nprint('at full speed:', seconds)",
            f"open({str(closed)!r})",
            "final_answer({'seconds': seconds, 'way': ('over', 'the bridge')})",
        ]
        seen: List[str] = []

        class Scripted(Model):  # type: ignore[misc,unused-ignore]
            def generate(self, messages: Any, **_: Any) -> Any:
                seen.append(str(messages[-1].content))
                return ChatMessage(role=MessageRole.ASSISTANT, content=f"Thought: on\n<code>\n{steps.pop(0)}\n</code>")

        @tool  # type: ignore[untyped-decorator,unused-ignore]
        def distance(name: str) -> float:
            """The length of a bridge in metres.

            Args:
                name: the bridge
            """
            self.assertEqual(os.getpid(), here)
            return 155.0

        here = os.getpid()
        executor = StockadePythonExecutor(profile="minimal")
        self.addCleanup(executor.cleanup)
        agent = CodeAgent(
            tools=[distance], model=Scripted(), executor=executor, additional_authorized_imports=["*"], verbosity_level=0
        )
        self.assertEqual(agent.run("How long does a leopard take?"), {"seconds": 9.6875, "way": ("over", "the bridge")})
        self.assertIn("at full speed: 9.6875", seen[1])
        self.assertIn(f"would grant: --read {closed}", seen[2])

    def test_variables_last_from_step_to_step_and_programs_output_is_told(self) -> None:
        executor = self.executor()
        executor.send_variables({"given": {"a": (1, {2})}})
        self.assertEqual(executor("x = given['a']\nx").output, (1, {2}))
        self.assertEqual(executor("import os\nprint('one')\nos.system('echo two')\nprint('three')").logs, "one\ntwo\nthree\n")
        self.assertEqual(executor("x[0]").output, 1)
        with self.assertRaisesRegex(RuntimeError, "ZeroDivisionError"):
            executor("print('before')\n1/0")
        self.assertEqual(executor.state["_print_outputs"], "before\n")

    def test_what_is_not_plain_stays_outside_and_comes_back_as_itself(self) -> None:
        executor, image = self.executor(), object()
        executor.send_tools({"draw": lambda: image, "is_it": lambda value: value is image, "final_answer": lambda value: value})
        self.assertIs(executor("is_it(draw())").output, True)
        answer = executor("final_answer(draw())")
        self.assertTrue(answer.is_final_answer)
        self.assertIs(answer.output, image)
        with self.assertRaisesRegex(RuntimeError, "can't leave the sandbox"):
            executor("is_it(object())")

    def test_hostile_code_ends_its_own_process_alone(self) -> None:
        executor = self.executor(step_timeout=2.0, max_print_outputs_length=1000)
        executor.send_variables({"kept": 5})
        forged = {"do": "done", "value": 1, "error": None, "ending": "final_answer", "output": ""}
        for code in (
            "while True: pass",
            "import os; os._exit(3)",
            "import os\nfor n in range(3, 20):\n try: os.write(n, b'rubbish\\n')\n except OSError: pass",
            "import os\nfor n in range(3, 20):\n try: os.write(n, b'[' * 100000 + b'\\n')\n except OSError: pass",
            f"import os\nfor n in range(3, 20):\n try: os.write(n, {(json.dumps(forged) + chr(10)).encode()!r})\n except OSError: pass",
        ):
            with self.assertRaises(stockade.StockadeError):
                executor(code)
            self.assertEqual(executor("kept").output, 5)
        code = "import gc\nworker = [one for one in gc.get_objects() if type(one).__name__ == 'Worker'][0]\n"
        code += f"worker.answer({{**{forged}, 'id': worker.id}})"
        self.assertFalse(executor(code).is_final_answer)
        executor.cleanup()
        self.assertLess(len(executor("print('x' * 1_000_000)").logs), 1100)


@needs("langchain_core")
class LangChain(PlaceTest):
    def test_a_tool_call_of_a_model_is_carried_out(self) -> None:
        """The exchange of LangChain's page on tool calling, with a model that answers from a list."""
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage
        from stockade.langchain import StockadePythonTool

        call = {"name": "run_script", "args": {"code": "print(6 * 7)"}, "id": "1", "type": "tool_call"}
        model = GenericFakeChatModel(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("It is 42.")]))
        tool = StockadePythonTool()
        asked = model.invoke("What is 6 times 7?")
        answered = tool.invoke(asked.tool_calls[0])
        self.assertEqual((answered.content, answered.tool_call_id, answered.status), ("42\n", "1", "success"))
        self.assertEqual(answered.artifact.report.status, "completed")
        self.assertEqual(model.invoke([answered]).content, "It is 42.")

    def test_a_refusal_is_the_tools_error_with_its_reason(self) -> None:
        from stockade.langchain import StockadePythonTool, StockadeShellTool

        closed = self.file("closed.txt")
        tool = StockadeShellTool(sandbox=Sandbox(profile="minimal", timeout=1.0))
        call = {"name": tool.name, "args": {"command": f"cat {closed}"}, "id": "1", "type": "tool_call"}
        told = tool.invoke(call)
        self.assertEqual(told.status, "error")
        self.assertIn(f"would grant: --read {closed}", told.content)
        self.assertIn(f"Permission denied: `cat` was refused reading `{closed}` (nothing grants it)", told.content)
        self.assertTrue(asyncio.run(tool.ainvoke({"command": "exit 3"})).endswith("exit code 3"))
        silent = tool.invoke({"command": f"cat {closed} 2>/dev/null; exit 3"})
        self.assertIn(f"exit code 3\nrefused, perhaps the reason:\n  reading: `--read {closed}`", silent)
        self.assertIn("was ended after 1.0 s", tool.invoke({"command": "sleep 9"}))
        self.assertEqual(tool.invoke({"command": "yes | head -c 90000"})[:4], "y\ny\n")
        self.assertLess(len(tool.invoke({"command": "yes | head -c 90000"})), 21_000)
        # A run is ended past its output: all of it would be kept here.
        for sandbox in (Sandbox(profile="minimal", timeout=60.0), Sandbox(profile="minimal", output_limit="1MiB")):
            endless = StockadeShellTool(sandbox=sandbox)
            self.assertIn("ended past the limit `output`", endless.invoke({"command": "yes"}))
        script = StockadePythonTool(sandbox=Sandbox(profile="no-such"))
        self.assertIn("no profile is called", script.invoke({"code": "1"}))
        self.assertEqual(set(tool.args), {"command"})


# A kernel aborts what arrives while a cell's error is dealt with, unless the cell says otherwise; the reply is sent before.
ALONE = {"allow_stdin": False, "stop_on_error": False}


@needs("ipykernel")
@needs("jupyter_client")
class Jupyter(PlaceTest):
    def setUp(self) -> None:
        super().setUp()
        line = [sys.executable, "-m", "stockade.kernel", "install", "--prefix", str(self.top), "--profile", "filesystem"]
        subprocess.run(line, check=True, capture_output=True)
        os.environ["JUPYTER_PATH"] = str(self.top / "share" / "jupyter")
        os.environ["JUPYTER_RUNTIME_DIR"] = str(self.top / "runtime")

    def started(self, transport: str) -> Tuple[Any, Any]:
        from jupyter_client.manager import KernelManager

        manager = KernelManager(kernel_name="stockade", transport=transport)
        manager.start_kernel(stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: manager.is_alive() and manager.shutdown_kernel(now=True))
        client = manager.blocking_client()
        client.start_channels()
        self.addCleanup(client.stop_channels)
        client.wait_for_ready(60)
        return manager, client

    def cell(self, client: Any, code: str) -> Tuple[str, str]:
        told: List[str] = []

        def hook(message: Any) -> None:
            content = message["content"]
            told.append(content.get("text") or content.get("evalue") or content.get("data", {}).get("text/plain") or "")

        reply = client.execute_interactive(code, timeout=30, output_hook=hook, **ALONE)
        return reply["content"]["status"], "".join(told)

    def check_kernel(self, transport: str) -> None:
        closed = self.home / "closed.txt"
        closed.write_text("x")
        manager, client = self.started(transport)
        self.assertEqual(self.cell(client, "x = 6 * 7\nx"), ("ok", "42"))
        self.assertEqual(self.cell(client, f"open({str(closed)!r})"), ("error", f"[Errno 13] Permission denied: {str(closed)!r}"))
        status, told = self.cell(client, "import subprocess\nprint(subprocess.Popen(['sleep', '99']).pid)")
        sleeper = int(told)
        self.assertTrue(is_alive(sleeper))
        asked = client.execute("import time; time.sleep(60)", **ALONE)
        time.sleep(0.7)
        manager.interrupt_kernel()
        reply: Optional[Any] = None
        while reply is None or reply["parent_header"].get("msg_id") != asked:
            reply = client.get_shell_msg(timeout=30)
        self.assertEqual((reply["content"]["status"], reply["content"]["ename"]), ("error", "KeyboardInterrupt"))
        self.assertEqual(self.cell(client, "x"), ("ok", "42"))
        manager.shutdown_kernel(now=True)
        for _ in range(100):
            if not is_alive(sleeper):
                break
            time.sleep(0.05)
        self.assertFalse(is_alive(sleeper))

    def test_cells_run_a_refused_read_says_so_and_stopping_ends_all(self) -> None:
        self.check_kernel("tcp")

    def test_the_same_over_unix_sockets(self) -> None:
        self.check_kernel("ipc")

    def test_flags_that_stockade_does_not_take_are_told_at_once(self) -> None:
        line = [sys.executable, "-m", "stockade.kernel", "install", "--prefix", str(self.top), "--profile", "no-such"]
        told = subprocess.run(line, capture_output=True, text=True)
        self.assertEqual(told.returncode, 125)
        self.assertIn("no profile is called `no-such`", told.stderr)

    def test_a_kernel_that_others_could_reach_is_refused(self) -> None:
        from stockade.kernel import connection_flags

        ports = {name: 50000 + at for at, name in enumerate(("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"))}
        told: Any
        for told in ({**ports, "ip": "0.0.0.0"}, {**ports, "shell_port": "0"}, {}, [], {**ports, "hb_port": 70000}):
            with self.assertRaises(stockade.StockadeError):
                connection_flags(str(self.file("c.json", json.dumps(told))))
