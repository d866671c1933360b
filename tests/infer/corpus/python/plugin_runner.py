"""Loads the plugins that are named on the command line (or the built-in ones) and runs each."""
import importlib
import sys

BUILT_IN = ["json", "textwrap"]


def load(name: str):
    module = importlib.import_module(name)
    return getattr(module, "main", None) or getattr(module, "dumps", None) or module.dedent


for name in sys.argv[1:] or BUILT_IN:
    plugin = load(name)
    print(f"{name}: {plugin('  hello')!r}")
