"""Questions to a callback."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from typing import Any, List

import stockade
from stockade import EscalationRequest, No, Yes

from .place import PlaceTest


class Asking(PlaceTest):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.file("asked.txt")
        logging.getLogger("stockade").setLevel(logging.CRITICAL)
        self.addCleanup(logging.getLogger("stockade").setLevel, logging.NOTSET)

    def cat(self, ask: Any, **options: Any) -> "stockade.Result[str]":
        result: "stockade.Result[str]" = stockade.run(
            ["cat", str(self.path)], ask=ask, capture_output=True, text=True, **options
        )
        return result

    def test_a_yes_makes_the_very_call_succeed(self) -> None:
        asked: List[EscalationRequest] = []

        def ask(request: EscalationRequest) -> Yes:
            asked.append(request)
            return Yes("session", reason="fine")

        result = self.cat(ask)
        self.assertEqual((result.stdout, result.returncode), ("text\n", 0))
        self.assertEqual(asked[0].grants, (("--read", str(self.path)),))
        self.assertEqual((asked[0].access, asked[0].target), ("read", str(self.path)))
        assert result.escalation is not None
        answered = result.escalation.requests[0]
        self.assertEqual((answered.answer, answered.lifetime, answered.reason), ("yes", "session", "fine"))

    def test_true_is_a_yes_for_the_one_call(self) -> None:
        result = self.cat(lambda request: True)
        assert result.escalation is not None
        self.assertEqual((result.stdout, result.escalation.requests[0].lifetime), ("text\n", "once"))

    def test_all_else_is_a_no(self) -> None:
        def fails(request: EscalationRequest) -> bool:
            raise RuntimeError("broken")

        def leaves(request: EscalationRequest) -> bool:
            raise SystemExit(0)

        answers = [False, None, No("not now"), 1, "yes", object(), Yes("always"), Yes("for ever"), Yes(5)]  # type: ignore[arg-type]
        callbacks = [(lambda request, answer=answer: answer) for answer in answers] + [fails, leaves]
        for callback in callbacks:
            result = self.cat(callback)
            self.assertEqual((result.stdout, result.status), ("", "permission_denied"))

    def test_a_wider_grant_takes_a_real_true(self) -> None:
        result = self.cat(lambda request: Yes("once", wider="no"))  # type: ignore[arg-type]
        self.assertEqual((result.stdout, result.returncode), ("text\n", 0))
        assert result.escalation is not None
        self.assertNotIn('"wider"', json.dumps(result.escalation.requests[0].answer))

    def test_a_reason_that_has_no_text_is_a_no_at_once_and_the_next_question_is_answered(self) -> None:
        class Bad:
            def __str__(self) -> str:
                raise KeyError

        other = self.file("other.txt")
        answers: List[Any] = [No(Bad()), Yes("once")]  # type: ignore[arg-type]
        began = time.monotonic()
        result = stockade.run(
            ["sh", "-c", f"cat {self.path}; cat {other}"], ask=lambda request: answers.pop(0), ask_timeout=20.0,
            capture_output=True, text=True,
        )
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(result.stdout, "text\n")

    def test_a_reason_is_bounded_and_whole_characters_so_a_yes_stays_one(self) -> None:
        for reason in ("\udcff", "x" * 3_000_000):
            self.assertEqual(self.cat(lambda request, reason=reason: Yes("once", reason=reason)).stdout, "text\n")

    def test_the_reason_of_a_no_is_in_the_report(self) -> None:
        result = self.cat(lambda request: No("not now"))
        assert result.escalation is not None
        self.assertEqual(result.escalation.requests[0].reason, "not now")

    def test_an_answer_that_comes_too_late_is_a_no_and_holds_nothing_up(self) -> None:
        release = threading.Event()
        self.addCleanup(release.set)
        begun = time.monotonic()
        result = self.cat(lambda request: release.wait(60), ask_timeout=0.5)
        self.assertEqual(result.status, "permission_denied")
        self.assertLess(time.monotonic() - begun, 20)

    def test_an_open_question_does_not_count_for_the_timeout(self) -> None:
        def ask(request: EscalationRequest) -> bool:
            time.sleep(1.5)
            return True

        self.assertEqual(self.cat(ask, timeout=1.0).stdout, "text\n")

    def test_secrets_are_not_asked_for(self) -> None:
        key = self.home / ".ssh" / "id_rsa"
        key.parent.mkdir()
        key.write_text("key")
        result = stockade.run(["cat", str(key)], ask=lambda request: True, capture_output=True)
        self.assertEqual((result.stdout, result.escalation), (b"", None))

    def test_a_coroutine_needs_an_event_loop(self) -> None:
        async def ask(request: EscalationRequest) -> bool:
            return True

        with self.assertRaises(TypeError):
            self.cat(ask)


class Async(PlaceTest):
    def test_a_run_is_awaited_and_its_questions_too(self) -> None:
        path = self.file("asked.txt")

        async def ask(request: EscalationRequest) -> Yes:
            await asyncio.sleep(0.05)
            return Yes()

        async def main() -> None:
            results = await asyncio.gather(
                *(stockade.aio.run(["cat", str(path)], ask=ask, capture_output=True, text=True) for _ in range(3))
            )
            self.assertEqual([result.stdout for result in results], ["text\n"] * 3)
            with self.assertRaises(stockade.PermissionDenied):
                await stockade.aio.run(["cat", str(path)], capture_output=True, check=True)
            with self.assertRaises(stockade.TimeoutExpired):
                await stockade.aio.run(["sleep", "9"], timeout=0.3)
            result = await stockade.aio.exec_code("print(input())", input="x", capture_output=True, text=True)
            self.assertEqual(result.stdout, "x\n")

        asyncio.run(main())

    def test_a_cancelled_task_ends_its_run(self) -> None:
        async def main() -> None:
            line = "trap '' TERM; echo $$ > pid; sleep 99"
            task = asyncio.ensure_future(stockade.aio.run(["sh", "-c", line], write="."))
            pid = self.root / "pid"
            while not (pid.exists() and pid.read_text()):
                await asyncio.sleep(0.05)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            from .place import is_alive

            self.assertFalse(is_alive(int(pid.read_text())))

        asyncio.run(main())

    def test_a_process_is_talked_to(self) -> None:
        async def main() -> None:
            process = await stockade.aio.start(["cat"], stdin=stockade.PIPE, stdout=stockade.PIPE)
            self.assertEqual(await process.communicate(b"hi"), (b"hi", b""))
            self.assertEqual(process.report and process.report.status, "completed")

        asyncio.run(main())
