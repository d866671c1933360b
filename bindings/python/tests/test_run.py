"""``run``, ``popen`` and ``Sandbox``: the habits of ``subprocess``, and what a refusal says."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings
from pathlib import Path
from typing import Any, List

import stockade
from stockade import PIPE, STDOUT, Sandbox

from .place import PlaceTest, is_alive


class Habits(PlaceTest):
    def test_output_is_captured_as_text_or_bytes(self) -> None:
        text = stockade.run(["echo", "grüß"], capture_output=True, text=True, env=["LANG"])
        self.assertEqual((text.stdout, text.stderr, text.returncode), ("grüß\n", "", 0))
        self.assertEqual(stockade.run(["echo", "hi"], capture_output=True).stdout, b"hi\n")
        self.assertEqual(stockade.run(["true"]).stdout, b"")
        self.assertEqual(stockade.run(["printf", "\\351"], stdout=PIPE, encoding="latin-1").stdout, "é")

    def test_input_reaches_the_program(self) -> None:
        self.assertEqual(stockade.run(["cat"], input="hello", capture_output=True, text=True).stdout, "hello")
        with self.assertRaises(ValueError):
            stockade.run(["cat"], input=b"x", stdin=PIPE)

    def test_large_input_and_output_on_both_streams_block_nothing(self) -> None:
        line = "cat; head -c 3000000 /dev/zero >&2"
        result = stockade.run(["sh", "-c", line], input=b"x" * 5_000_000, capture_output=True, timeout=60)
        self.assertEqual((len(result.stdout), len(result.stderr)), (5_000_000, 3_000_000))

    def test_stderr_can_go_into_stdout(self) -> None:
        result = stockade.run(["sh", "-c", "echo a; echo b >&2"], stdout=PIPE, stderr=STDOUT, text=True)
        self.assertEqual(result.stdout, "a\nb\n")

    def test_an_exit_code_is_the_programs_own(self) -> None:
        for code in (1, 124, 125, 126, 127, 137, 255):
            result = stockade.run(["sh", "-c", f"exit {code}"])
            self.assertEqual((result.returncode, result.status), (code, "completed"))

    def test_a_signal_is_told_as_subprocess_tells_it(self) -> None:
        self.assertEqual(stockade.run(["sh", "-c", "kill -9 $$"]).returncode, -signal.SIGKILL)
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            stockade.run(["sh", "-c", "kill -9 $$"], check=True)
        self.assertNotIsInstance(caught.exception, stockade.PermissionDenied)

    def test_a_command_is_a_list(self) -> None:
        with self.assertRaises(TypeError):
            stockade.run("echo hi")
        with self.assertRaises(ValueError):
            stockade.run([])
        with self.assertRaises(TypeError):
            stockade.run(["true"], shell=True)  # type: ignore[call-overload]
        with self.assertRaises(TypeError):
            stockade.run(["true"], root=".", cwd=".")

    def test_a_word_that_looks_like_a_flag_is_the_commands_or_the_values(self) -> None:
        self.assertEqual(stockade.run(["echo", "--", "--read", "x"], capture_output=True).stdout, b"-- --read x\n")
        self.file("--net", "inside")
        result = stockade.run(["cat", "./--net"], read="--net", capture_output=True)
        self.assertEqual(result.stdout, b"inside", result.messages)

    def test_the_working_directory_is_the_root(self) -> None:
        (self.root / "sub").mkdir()
        sub = self.root / "sub"
        for result in (
            stockade.run(["pwd"], root=sub, capture_output=True, text=True),
            stockade.run(["pwd"], cwd=sub, capture_output=True, text=True),
        ):
            self.assertEqual(result.stdout.strip(), str(self.root / "sub"))

    def test_variables_are_set_and_passed_and_their_values_stand_in_no_command_line(self) -> None:
        os.environ["FROM_HERE"] = "yes"
        line = 'echo "$SET $FROM_HERE $HIDDEN"'
        os.environ["HIDDEN"] = "no"
        self.assertEqual(stockade.run(["sh", "-c", line], env={"SET": "1"}, capture_output=True).stdout, b"1  \n")
        self.assertEqual(stockade.run(["sh", "-c", line], env=["FROM_HERE"], capture_output=True).stdout, b" yes \n")
        with stockade.popen(["cat"], env={"API_KEY": "s3cret"}, stdin=PIPE, stdout=PIPE) as process:
            self.assertNotIn(b"s3cret", Path(f"/proc/{process.pid}/cmdline").read_bytes())
            process.communicate(b"")
        home = stockade.run(["sh", "-c", "echo $HOME"], env={"HOME": "/elsewhere"}, capture_output=True)
        self.assertEqual(home.stdout, b"/elsewhere\n")

    def test_the_name_of_a_variable_holds_no_value(self) -> None:
        environments: List[Any] = [{"A=B": "c"}, {"LC_X=Y": "c"}, {"": "c"}, ["A=B"]]
        for env in environments:
            with self.assertRaises(ValueError):
                stockade.run(["true"], env=env)

    def test_language_models_take_a_real_true(self) -> None:
        wrong: List[Any] = ["no", 1, []]
        for given in wrong:
            with self.assertRaises(TypeError):
                stockade.run(["true"], llm=given)
        self.assertEqual(stockade.run(["true"], llm=False).returncode, 0)

    def test_the_run_inherits_no_descriptor(self) -> None:
        read, write = os.pipe()
        os.set_inheritable(read, True)
        self.addCleanup(os.close, read)
        self.addCleanup(os.close, write)
        code = "import os\nfor n in range(3, 200):\n try: os.fstat(n); print(n)\n except OSError: pass"
        result = stockade.run(
            ["/usr/bin/python3", "-c", code], ask=lambda request: False, capture_output=True, text=True
        )
        self.assertEqual((result.stdout, result.returncode), ("", 0), result.messages)


class Refusals(PlaceTest):
    def test_a_refusal_is_in_the_result_with_what_would_allow_it(self) -> None:
        path = self.file("closed.txt")
        result = stockade.run(["cat", str(path)], capture_output=True, text=True)
        self.assertEqual(result.stderr, f"cat: {path}: Permission denied\n")
        self.assertEqual(result.status, "permission_denied")
        denial = result.denials[0]
        self.assertEqual((denial.access, denial.target, denial.grant), ("read", str(path), ("--read", str(path))))
        self.assertEqual((denial.explains, denial.usual), ("yes", False))
        assert result.suggestion is not None
        self.assertEqual(result.suggestion.candidates, ())
        self.assertEqual(str(denial), f"`cat` was refused reading `{path}` (nothing grants it)")
        self.assertIn(f"`cat` was refused reading `{path}`", result.messages)
        self.assertEqual(Sandbox().allowing(*result.suggestion.flags).run(["cat", path], capture_output=True).stdout, b"text\n")

    def test_check_raises_what_was_refused(self) -> None:
        path = self.file("closed.txt")
        with self.assertRaises(stockade.PermissionDenied) as caught:
            stockade.run(["cat", path], check=True, capture_output=True, text=True)
        self.assertIn(f"--read {path}", str(caught.exception.hint))
        self.assertIn(str(path), str(caught.exception))
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(again.denials, caught.exception.denials)
        self.assertIsInstance(caught.exception, subprocess.CalledProcessError)

    def test_what_was_perhaps_the_reason_is_listed_with_what_would_allow_it(self) -> None:
        one, two = self.file("one"), self.file("a two")
        line = ["sh", "-c", "cat one 'a two' 2>/dev/null; exit 3"]
        result = stockade.run(line, capture_output=True)
        self.assertEqual((result.status, [one.explains for one in result.denials]), ("completed", ["perhaps", "perhaps"]))
        assert result.suggestion is not None
        self.assertEqual((result.suggestion.flags, result.suggestion.hint), ((), None))
        flags = [candidate.flags for candidate in result.suggestion.candidates]
        self.assertEqual(flags, [("--read", str(two)), ("--read", str(one))])
        with self.assertRaises(stockade.RunFailed) as caught:
            stockade.run(line, check=True, capture_output=True)
        self.assertNotIsInstance(caught.exception, stockade.PermissionDenied)
        self.assertIsInstance(caught.exception, subprocess.CalledProcessError)
        self.assertEqual(str(pickle.loads(pickle.dumps(caught.exception))), str(caught.exception))
        how, *told = str(caught.exception).splitlines()
        self.assertIn("returned non-zero exit status 3", how)
        self.assertEqual(
            told, ["refused, perhaps the reason:", f"  reading: `--read '{two}'`", f"  reading: `--read {one}`"]
        )
        self.assertIn("\n".join(told), result.messages)

    def test_a_failure_of_the_programs_own_blames_no_refusal(self) -> None:
        with self.assertRaises(stockade.RunFailed) as caught:
            stockade.run(["sh", "-c", "exit 3"], check=True)
        self.assertEqual((caught.exception.suggestion, "refused" in str(caught.exception)), (None, False))

    def test_a_name_that_the_program_chose_is_escaped(self) -> None:
        self.file("a\x1b[31m\u202e.txt")
        result = stockade.run(["sh", "-c", "cat a*"], profile="minimal", read=".", deny="**/a*", capture_output=True)
        shown = " ".join(str(denial) for denial in result.denials)
        self.assertIn("\\x1b", shown)
        self.assertTrue(shown.isprintable())

    def test_what_stockade_refuses_to_start_is_an_error(self) -> None:
        for sandbox in (Sandbox(profile="no-such"), Sandbox(net="some"), Sandbox(ask="fd:77")):
            with self.assertRaises(stockade.StockadeError) as caught:
                sandbox.run(["true"], stderr=PIPE)
            self.assertEqual(caught.exception.returncode, 125)
            self.assertNotIn("without a report", str(caught.exception))
        with self.assertRaises(FileNotFoundError):
            stockade.run(["no-such-program"])
        with self.assertRaises(PermissionError):
            stockade.run(["/etc/passwd"])

    def test_a_run_past_its_time_is_ended_with_all_its_processes(self) -> None:
        begun = time.monotonic()
        with self.assertRaises(stockade.TimeoutExpired) as caught:
            stockade.run(["sh", "-c", "echo first; sleep 60 & sleep 60"], timeout=0.5, capture_output=True, text=True)
        self.assertLess(time.monotonic() - begun, 20)
        self.assertEqual(caught.exception.output, "first\n")
        self.assertIsInstance(caught.exception, subprocess.TimeoutExpired)


class Sandboxes(PlaceTest):
    def test_a_sandbox_is_used_again_and_widened_in_a_copy(self) -> None:
        self.file("one", "1"), self.file("two", "2")
        narrow = Sandbox(profile="minimal", read="one")
        wide = narrow.allowing(read=["two"])
        self.assertEqual(wide.run(["cat", "one", "two"], capture_output=True).stdout, b"12")
        self.assertEqual(narrow.run(["cat", "one", "two"], capture_output=True).stdout, b"1")
        with self.assertRaises(ValueError):
            narrow.allowing("--profile", "trusted")

    def test_many_threads_use_one_sandbox(self) -> None:
        sandbox, found = Sandbox(), []

        def use(number: int) -> None:
            found.append(sandbox.run(["echo", str(number)], capture_output=True, text=True).stdout)

        threads = [threading.Thread(target=use, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(found), sorted(f"{number}\n" for number in range(12)))

    def test_no_descriptor_and_no_thread_is_left(self) -> None:
        for _ in range(2):
            stockade.run(["true"], ask=lambda request: False)
        time.sleep(0.2)
        before, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
        for _ in range(5):
            stockade.run(["true"], ask=lambda request: False, capture_output=True)
            with self.assertRaises(stockade.StockadeError):
                stockade.run(["true"], profile="no-such", ask=lambda request: False)
        time.sleep(0.2)
        self.assertEqual((len(os.listdir("/proc/self/fd")), threading.active_count()), (before, threads))

    def test_a_run_that_is_dropped_keeps_no_descriptor(self) -> None:
        stockade.run(["true"])
        before = len(os.listdir("/proc/self/fd"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            for _ in range(3):
                stockade.popen(["true"], ask=lambda request: False)
            gc.collect()
        time.sleep(0.3)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_a_forked_process_runs_too(self) -> None:
        sandbox = Sandbox()
        child = os.fork()
        if child == 0:
            os._exit(0 if sandbox.run(["echo", "x"], capture_output=True).stdout == b"x\n" else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_it_works_with_the_standard_streams_closed(self) -> None:
        code = "import os, stockade\nfor n in (0, 1, 2): os.close(n)\n"
        code += "r = stockade.run(['echo', 'x'], capture_output=True, ask=lambda q: False)\nos._exit(r.stdout != b'x\\n')"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)


class Processes(PlaceTest):
    def test_a_process_is_talked_to_and_reports_at_its_end(self) -> None:
        with stockade.popen(["cat"], stdin=PIPE, stdout=PIPE, text=True) as process:
            assert process.stdin and process.stdout
            process.stdin.write("line\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "line\n")
            self.assertIsNone(process.poll())
            self.assertIsNone(process.report)
            process.stdin.close()
            self.assertEqual(process.wait(20), 0)
        self.assertEqual(process.report and process.report.status, "completed")

    def test_a_signal_reaches_the_program(self) -> None:
        line = "trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.05; done"
        with stockade.popen(["sh", "-c", line], stdout=PIPE, text=True) as process:
            assert process.stdout
            process.stdout.readline()
            process.terminate()
            self.assertEqual(process.stdout.read(), "got\n")
        self.assertEqual(process.returncode, 3)

    def test_killing_ends_all_processes(self) -> None:
        with stockade.popen(["sh", "-c", "sleep 99 & sleep 99 & echo $!; wait"], stdout=PIPE, text=True) as process:
            assert process.stdout
            inner = int(process.stdout.readline())
            self.assertTrue(is_alive(inner))
            process.kill()
            self.assertEqual(process.wait(20), -signal.SIGKILL)
        for _ in range(100):
            if not is_alive(inner):
                break
            time.sleep(0.05)
        self.assertFalse(is_alive(inner))
        self.assertIsInstance(process.error, stockade.StockadeError)

    def test_an_interrupt_ends_the_run(self) -> None:
        # What starts the tests may have SIGINT ignored.
        code = (
            "import signal, stockade, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\ntry: stockade.run(['sh', '-c', 'trap \"\" INT; echo $$ > pid; sleep 99'], write='.')\n"
            "except KeyboardInterrupt: sys.exit(42)"
        )
        process = subprocess.Popen([sys.executable, "-c", code], cwd=self.root, stderr=subprocess.DEVNULL)
        pid = self.root / "pid"
        for _ in range(400):
            if pid.exists() and pid.read_text():
                break
            time.sleep(0.05)
        inner = int(pid.read_text())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 42)
        self.assertFalse(is_alive(inner))


if __name__ == "__main__":
    unittest.main()
