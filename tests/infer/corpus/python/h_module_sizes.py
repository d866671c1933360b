"""Functions per module, for the modules that find(1) reports below src."""
import ast
import subprocess

COMMAND = ["find", "src", "-type", "f", "-name", "*.py"]


def modules():
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=True)
    return sorted(done.stdout.split("\n"))


def functions(path):
    with open(path, encoding="utf-8") as source:
        tree = ast.parse(source.read(), filename=path)
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


for module in modules():
    if not module:
        continue
    names = functions(module)
    print(f"{module}: {len(names)} {', '.join(names)}")
