"""Finds calls that a reviewer should look at, in a snippet held in this file."""
import ast
import textwrap

DANGEROUS = {"eval", "exec", "os.system", "subprocess.run", "shutil.rmtree", "requests.get"}

SNIPPET = textwrap.dedent(
    '''
    import os, subprocess, shutil, requests

    def clean():
        shutil.rmtree("/var/lib/app")
        os.system("rm -rf /tmp/cache")

    def fetch():
        token = os.environ["API_TOKEN"]
        return requests.get("https://api.example.com/v1", headers={"authorization": token})

    eval(input())
    '''
)


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def findings(source: str):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and (name := dotted(node.func)) in DANGEROUS:
            yield node.lineno, name


def main() -> int:
    found = sorted(findings(SNIPPET))
    for line, name in found:
        print(f"snippet:{line}: call of {name}()")
    return 1 if len(found) > 10 else 0


raise SystemExit(main())
