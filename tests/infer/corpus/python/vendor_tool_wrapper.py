"""Asks the vendor's tool for the balance. The tool isn't ours, and comes with the vendor's package."""
import subprocess
import sys

TOOL = "ledgerctl"


def balance(account: str) -> str:
    finished = subprocess.run([TOOL, "balance", "--account", account, "--format=plain"], capture_output=True, text=True)
    if finished.returncode:
        raise RuntimeError(finished.stderr)
    return finished.stdout.strip()


try:
    print(balance("4711"))
except FileNotFoundError:
    print(f"{TOOL} isn't installed", file=sys.stderr)
    sys.exit(127)
