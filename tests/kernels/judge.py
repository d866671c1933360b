#!/usr/bin/env python3
"""Judges what the guests of `tools/kernels` wrote: a table by kernel, and the failures below it.

    judge.py REASONS DIRECTORY…      each holds `results`; its name is the kernel's release

Exit code 1 where a failure has no reason in REASONS (see there), or a guest didn't come to its end.
"""

import fnmatch
import pathlib
import re
import sys

USERS = {"root": "root", "check": "user"}
FAILURES = ("failed", "timeout")


def main():
    reasons = read_reasons(sys.argv[1])
    kernels = [Kernel(pathlib.Path(directory), reasons) for directory in sys.argv[2:]]
    print_table([kernel.row() for kernel in kernels])
    for kernel in kernels:
        kernel.print_failures()
    sys.exit(any(kernel.has_faults() for kernel in kernels))


def read_reasons(path):
    """(kernels, user, test, reason) of each line."""
    reasons = []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split(maxsplit=3)
        if len(fields) < 4 or not re.fullmatch(r"\*|[<>]?=?\d+\.\d+", fields[0]) or fields[1] not in ("*", "root", "user"):
            sys.exit(f"{path}:{number}: not `KERNELS USER TEST REASON`: {line}")
        reasons.append(fields)
    return reasons


def series(text):
    return tuple(int(part) for part in re.match(r"(\d+)\.(\d+)", text).groups())


def covers(kernels, release):
    """Whether `*`, `6.1`, `<6.12` or `>=6.16` names a release."""
    if kernels == "*":
        return True
    sign, wanted = re.fullmatch(r"([<>]?=?)(.*)", kernels).groups()
    here, there = series(release), series(wanted)
    return {"<": here < there, "<=": here <= there, ">": here > there, ">=": here >= there}.get(sign, here == there)


class Kernel:
    def __init__(self, directory, reasons):
        self.release = directory.name
        self.reasons = [reason for reason in reasons if covers(reason[0], self.release)]
        self.abi, self.seconds, self.tests, self.output, self.refusals = "?", None, [], {}, []
        for line in (directory / "results").read_text(errors="replace").splitlines():
            self.read(*line.split("\t"))

    def read(self, kind, *fields):
        if kind == "kernel":
            self.abi = fields[1]
        elif kind == "result":
            self.tests.append(fields)
        elif kind == "output":
            self.output.setdefault(fields[:2], []).append("\t".join(fields[2:]))
        elif kind == "refusal":
            self.refusals.append(fields)
        elif kind == "end":
            self.seconds = fields[0]

    def reason(self, user, test):
        for _, who, pattern, reason in self.reasons:
            if who in ("*", USERS[user]) and fnmatch.fnmatchcase(test, pattern):
                return reason
        return None

    def failures(self):
        return sorted((test, user) for user, test, status, _ in self.tests if status in FAILURES)

    def faults(self):
        return [failure for failure in self.failures() if self.reason(failure[1], failure[0]) is None]

    def was_refused(self):
        """Nothing was started, and Stockade's last word says that Landlock is missing."""
        return len(self.refusals) == len(USERS) and all(
            status == "125" and "Landlock" in text and "started" not in text for _, status, text in self.refusals
        )

    def has_faults(self):
        if self.seconds is None or self.faults():
            return True
        return not self.was_refused() if self.abi == "0" else not self.tests

    def row(self):
        return [self.release, self.abi, *(self.summary(user) for user in USERS), self.seconds or "no end"]

    def summary(self, user):
        if self.abi == "0":
            return "refused" if self.was_refused() else "NOT REFUSED"
        statuses = [(status, test) for who, test, status, _ in self.tests if who == user]
        known = sum(status in FAILURES and self.reason(user, test) is not None for status, test in statuses)
        count = {status: sum(each == status for each, _ in statuses) for status in ("ok", "skipped", *FAILURES)}
        failed = count["failed"] + count["timeout"] - known
        return f"{count['ok']} / {failed} / {known} / {count['skipped']}"

    def print_failures(self):
        for _, status, text in self.refusals[:1]:
            print(f"\n{self.release}: exit code {status}: {text.strip()}")
        for test, user in self.failures():
            reason = self.reason(user, test)
            print(f"\n{self.release}, as {USERS[user]}: {test}: {reason or 'FAILED'}")
            if reason is None:
                print("\n".join(f"    {line}" for line in self.output.get((user, test), [])))


def print_table(rows):
    head = ["kernel", "Landlock ABI", "root: passed/failed/known/in part", "user: the same", "seconds"]
    rows = [head, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


main()
