"""``exec_code``, ``infer``, ``check``, and where the program is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading

import stockade
from stockade import Checker
from stockade.sandbox import code_file

from .place import PlaceTest


class Code(PlaceTest):
    def test_code_runs_with_what_its_text_needs(self) -> None:
        self.file("data/in.txt", "inside")
        result = stockade.exec_code("print(open('data/in.txt').read())", capture_output=True, text=True)
        self.assertEqual(result.stdout, "inside\n", result.messages)

    def test_a_profile_that_is_named_takes_the_place_of_the_inferred_one(self) -> None:
        self.file("data/in.txt", "inside")
        code = "print(open('data/in.txt').read())"
        result = stockade.exec_code(code, profile="minimal", capture_output=True, text=True)
        self.assertEqual(result.status, "permission_denied")

    def test_other_languages_and_arguments(self) -> None:
        self.assertEqual(stockade.exec_code("echo $1", "shell", ["x"], capture_output=True).stdout, b"x\n")
        with self.assertRaises(ValueError):
            stockade.exec_code("puts 1", "ruby")

    def test_no_other_run_changes_the_code(self) -> None:
        """Not where everything else in the same directory is open to it."""
        beside = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, beside, ignore_errors=True)
        with code_file("print('mine')", "python") as file:
            place = os.path.dirname(file)
            attempts = [
                f"echo other >{file}",
                f"echo other >{place}/json.py",
                f"mv {place} {beside}/moved",
                f"ln {file} {beside}/linked",
                f"rm -rf {place}",
                f"chmod 777 {place}",
            ]
            line = "; ".join([*attempts, f"echo open >{beside}/file"])
            self.assertEqual(os.path.dirname(place), os.path.dirname(beside))
            stockade.run(["sh", "-c", line], profile="filesystem", write=tempfile.gettempdir(), capture_output=True)
            with open(file) as content:
                self.assertEqual(content.read(), "print('mine')")
            self.assertEqual((os.listdir(place), os.stat(place).st_mode & 0o777), (["code.py"], 0o700))
        self.assertEqual(os.listdir(beside), ["file"])

    def test_nothing_is_remembered_of_it(self) -> None:
        stockade.exec_code("print(1)", profile="readonly", capture_output=True)
        stockade.exec_code("print(1)", capture_output=True)
        listed = subprocess.run([stockade.find_binary(), "script", "list"], capture_output=True, text=True)
        self.assertEqual(listed.stdout, "")


class Inferring(PlaceTest):
    def test_the_needs_of_a_text_are_told(self) -> None:
        told = stockade.infer("import urllib.request as u\nu.urlopen('https://api.example.com/')\nopen('/etc/hosts')")
        self.assertEqual((told.hosts, told.reads, told.language), (("api.example.com",), ("/etc/hosts",), "python"))
        self.assertEqual(told.evidence[0].line, 2)
        self.assertEqual(told.least_grants.sandbox().options["host"], ["api.example.com"])

    def test_a_file_is_read(self) -> None:
        self.assertEqual(stockade.infer_file(self.file("a.sh", "ls\n")).language, "shell")

    def test_what_cannot_be_read_is_an_error(self) -> None:
        with self.assertRaises(stockade.StockadeError):
            stockade.infer("x", "cobol")
        with self.assertRaises(stockade.StockadeError):
            stockade.infer_file("no-such.py")


class Checking(PlaceTest):
    def test_a_call_is_allowed_denied_or_asked(self) -> None:
        self.assertTrue(stockade.check("bash", "git status | head"))
        confirm = stockade.check("bash", "git push")
        self.assertFalse(confirm)
        self.assertTrue(confirm.needs_confirmation)
        denied = stockade.check("bash", "git push", ask=False)
        self.assertEqual(denied.decision, "deny")
        self.assertTrue(stockade.check(action="write", path="a.rs", agent="worker"))
        self.assertFalse(stockade.check(action="connect", host="api.example.com:443", agent="judge"))

    def test_one_process_decides_many_from_many_threads(self) -> None:
        with Checker(agent="worker") as checker:
            wrong = []

            def use(number: int) -> None:
                for at in range(20):
                    command, expected = (("git status", True), ("git push", False))[(number + at) % 2]
                    if bool(checker.check("bash", command)) is not expected:
                        wrong.append((number, at))

            threads = [threading.Thread(target=use, args=(number,)) for number in range(5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])
            with self.assertRaises(stockade.StockadeError):
                checker.check("bash", "git status", action="read")
            self.assertTrue(checker.check("bash", "git status"))
            child = os.fork()
            if child == 0:
                os._exit(0 if checker.check("bash", "git status") else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertTrue(checker.check("bash", "git status"))

    def test_wrong_options_are_told(self) -> None:
        with self.assertRaises(stockade.StockadeError) as caught:
            Checker(rules="no-such.toml").check("bash", "ls")
        self.assertIn("no-such.toml", str(caught.exception))


class Program(PlaceTest):
    def test_beside_a_source_tree_no_program_is_looked_for(self) -> None:
        tree = self.root / "project" / "python" / "src"
        shutil.copytree(os.path.dirname(stockade.__file__), tree / "stockade")
        for place in (self.root / "bin", tree / "bin"):
            place.mkdir()
            (place / "stockade").write_text("#!/bin/sh\necho planted\n")
            (place / "stockade").chmod(0o755)
        code = "from stockade._binary import _carried; print(*_carried(), sep='\\n')"
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        self.assertNotIn(str(self.root), told.stdout)
        (tree / "stockade-0.1.0.dist-info").mkdir()
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        self.assertIn(f"{tree}/bin/stockade\n", told.stdout)
        self.assertNotIn(f"{self.root}/bin/stockade\n", told.stdout)

    def test_the_variable_names_another_program(self) -> None:
        os.environ["STOCKADE_BINARY"] = str(self.root / "none")
        with self.assertRaises(stockade.StockadeError):
            stockade.run(["true"])

    def test_the_package_is_the_program(self) -> None:
        told = subprocess.run([sys.executable, "-m", "stockade", "--version"], capture_output=True, text=True)
        self.assertEqual(told.stdout.split()[0], "stockade", told.stderr)
