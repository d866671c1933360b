"""Runs the commands of a target of the Makefile without make. A poor man's task runner."""
import re
import subprocess
import sys


def recipe(target: str) -> list[str]:
    text = open("Makefile").read()
    match = re.search(rf"^{re.escape(target)}:\n((?:\t.*\n)+)", text, re.M)
    return [line.strip().lstrip("@") for line in match[1].splitlines()] if match else []


target = sys.argv[1] if len(sys.argv) > 1 else "version"
for command in recipe(target):
    print("+", command, flush=True)
    subprocess.run(command, shell=True, check=True)
