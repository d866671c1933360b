"""The process behind the executor for smolagents: nothing that comes out of it holds up the host, or fills it."""

from __future__ import annotations

import json
import threading
import time
from typing import Any, Callable, Dict, List

import stockade
from stockade._session import Session, SessionEnded
from stockade._values import LONGEST_IN, decoded, encoded, tagged, untagged

from .place import PlaceTest

#: Finds what serves the code, as hostile code would.
WORKER = "import gc\nworker = [one for one in gc.get_objects() if type(one).__name__ == 'Worker'][0]\n"
#: Stops it behind its back, once the step is over.
STOPS = (
    "import os, signal, threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.3), os.kill(os.getpid(), signal.SIGSTOP))).start()"
)


def done(value: str) -> bytes:
    return f'{{"do": "done", "value": {value}, "error": null, "ending": null, "output": ""}}\n'.encode()


class Values(PlaceTest):
    def test_a_message_is_bounded_in_length_and_in_values(self) -> None:
        for line in (
            done('"' + "x" * LONGEST_IN + '"'),
            done("[" + "{}," * 400_000 + "{}]"),
            done("[" * 600_000),
            done("[" + "1," * 600_000 + "1]"),
            done("9" * 1_000_000),
        ):
            began = time.monotonic()
            with self.assertRaises((ValueError, RecursionError)):
                decoded(line)
            self.assertLess(time.monotonic() - began, 1)
        self.assertEqual(decoded(done("[1, -2.5]"))["value"], [1, -2.5])

    def test_keys_that_collide_are_refused_and_others_are_taken(self) -> None:
        hostile = [number * (2**61 - 1) for number in range(100_000)]
        many: Any
        for many in (
            {"$": "set", "v": hostile},
            {"$": "frozenset", "v": hostile},
            {"$": "dict", "v": [[number, 0] for number in hostile]},
            {"$": "set", "v": [{"$": "tuple", "v": [number]} for number in hostile]},
        ):
            began = time.monotonic()
            with self.assertRaisesRegex(ValueError, "one hash"):
                untagged(many, {}.__getitem__)
            self.assertLess(time.monotonic() - began, 2)
        value = {"a": {-1, -2, 1.5, "b"}, 1: (frozenset([b"c"]), set(range(50_000)))}
        self.assertEqual(untagged(json.loads(json.dumps(tagged(value, id))), {}.__getitem__), value)

    def test_of_what_stays_here_nothing_but_the_type_goes_out(self) -> None:
        class Secretive:
            def __repr__(self) -> str:
                return "password"

        self.assertEqual(tagged(Secretive(), lambda _: 0), {"$": "kept", "v": 0, "repr": "a Secretive"})


class Sessions(PlaceTest):
    def session(self, **functions: Callable[..., Any]) -> Session:
        session = Session(stockade.Sandbox(profile="minimal"))
        self.addCleanup(session.close)
        session.set_functions(functions)
        return session

    def test_a_refusal_that_the_error_names_is_blamed_and_another_perhaps(self) -> None:
        closed, other, last = self.file("closed.txt"), self.file("other.txt"), self.file("last.txt")
        session = self.session()
        told = f"Permission denied: reading `{closed}`; would grant: --read {closed}"
        self.assertIn(told, str(session.run("open('closed.txt')").error))
        code = "try: open('other.txt')\nexcept OSError: raise ValueError('no data') from None"
        error = str(session.run(code).error)
        self.assertNotIn("Permission denied", error)
        self.assertTrue(error.endswith(f"\nrefused, perhaps the reason:\n  reading `{other}`: `--read {other}`"), error)
        self.assertNotIn("refused", str(session.run("1/0").error))
        with self.assertRaisesRegex(SessionEnded, f"perhaps the reason:\n  reading: `--read {last}`"):
            session.run("import os\ntry: open('last.txt')\nexcept OSError: os._exit(3)")

    def test_an_answer_to_another_request_ends_the_session(self) -> None:
        session = self.session()
        answer = "{'do': 'done', 'value': 'forged', 'error': None, 'ending': None, 'output': ''}"
        with self.assertRaisesRegex(SessionEnded, "another request"):
            session.run(WORKER + f"worker.answer({answer})")
        # With the id of its own step it answers that one, and no later one.
        code = WORKER + f"worker.answer({{**{answer}, 'id': worker.id}})\n'real'"
        self.assertEqual(session.run(code).value, "forged")
        with self.assertRaisesRegex(SessionEnded, "another request"):
            session.run("1 + 1")
        self.assertEqual(session.run("2 + 2").value, 4)

    def test_a_hostile_answer_holds_nothing_up(self) -> None:
        session = self.session()
        value = "{'$': 'set', 'v': [number * (2**61 - 1) for number in range(100000)]}"
        code = WORKER + f"worker.answer({{'do': 'done', 'id': worker.id, 'value': {value}, 'error': None, 'ending': None, 'output': ''}})"
        began = time.monotonic()
        with self.assertRaises(SessionEnded):
            session.run(code, 20.0)
        self.assertLess(time.monotonic() - began, 20)

    def test_a_stopped_process_ends_in_time_whatever_is_asked_of_it(self) -> None:
        before = stockade._session.PATIENCE
        self.addCleanup(setattr, stockade._session, "PATIENCE", before)
        asks: List[Callable[[Session], Any]] = [
            lambda session: session.set_variables({"x": 1}),
            lambda session: session.set_functions({"f": int}),
            lambda session: session.run("1", 1.0),
        ]
        for ask in asks:
            stockade._session.PATIENCE = before
            session = self.session()
            session.run(STOPS)
            time.sleep(0.8)
            stockade._session.PATIENCE = 1.0
            began = time.monotonic()
            with self.assertRaisesRegex(SessionEnded, "took longer than 1.0 s"):
                ask(session)
            self.assertLess(time.monotonic() - began, 10)

    def test_closing_ends_a_step_of_another_thread(self) -> None:
        session = self.session()
        session.run("1")
        ended: List[BaseException] = []

        def step() -> None:
            try:
                session.run("while True: pass")
            except SessionEnded as error:
                ended.append(error)

        thread = threading.Thread(target=step, daemon=True)
        thread.start()
        time.sleep(0.3)
        session.close()
        thread.join(10)
        self.assertEqual(len(ended), 1)

    def test_what_is_too_long_is_an_error_of_its_own_and_the_variables_last(self) -> None:
        class Wordless(Exception):
            def __str__(self) -> str:
                raise KeyError

        def fail() -> None:
            raise Wordless

        session = self.session(big=lambda: "x" * (40 << 20), fail=fail)
        session.set_variables({"kept": 5})
        self.assertIn("the function's result is too long", str(session.run("big()").error))
        self.assertIn("Wordless: without a message", str(session.run("fail()").error))
        with self.assertRaisesRegex(stockade.StockadeError, "the variable `long` is too long"):
            session.set_variables({"long": "x" * (40 << 20)})
        with self.assertRaisesRegex(stockade.StockadeError, "the code is too long"):
            session.run("#" + "x" * (40 << 20))
        # What is too large inside is described, or refused there.
        self.assertEqual(len(session.run("'x' * (5 << 20)").value), 50_000)
        self.assertIsInstance(session.run("[{}] * 600_000").value, str)
        self.assertIsInstance(session.run("1 << 20_000").value, str)
        self.assertIn("too large to leave", str(session.run("big('x' * (5 << 20))").error))
        everything = session.run("print('\\x01' * 50_000)\n'\\x01' * 680_000")
        self.assertEqual(len(everything.output), 20_000)
        self.assertEqual(session.run("kept").value, 5)

    def test_a_handle_is_a_number_and_the_same_for_the_same(self) -> None:
        one, other = object(), object()
        seen: Dict[str, Any] = {}
        session = self.session(one=lambda: one, other=lambda: other, put=lambda name, value: seen.update({name: value}))
        code = "a, b, c = one(), other(), one()\nput('a', a); put('b', b); put('c', c)\n(a._number, b._number, c._number, repr(a))"
        self.assertEqual(session.run(code).value, (0, 1, 0, "<kept outside: a object>"))
        self.assertIs(seen["a"], one)
        self.assertIs(seen["b"], other)
        self.assertIs(seen["c"], one)
        self.assertEqual(encoded({"a": 1}), b'{"a": 1}\n')
