"""A tool server that speaks JSON-RPC over standard streams: read, write and list files for its client."""
import json
import os
import sys
from typing import Any, Callable

Handler = Callable[..., Any]
TOOLS: dict[str, Handler] = {}


def tool(name: str) -> Callable[[Handler], Handler]:
    """Registers a function under the name that clients use."""

    def register(function: Handler) -> Handler:
        TOOLS[name] = function
        return function

    return register


@tool("read_file")
def read_file(path: str) -> str:
    with open(path, encoding="utf-8") as handle:
        return handle.read()


@tool("write_file")
def write_file(path: str, content: str) -> int:
    with open(path, "w", encoding="utf-8") as handle:
        return handle.write(content)


@tool("list_directory")
def list_directory(path: str = ".") -> list[str]:
    return sorted(os.listdir(path))


def answer(line: str) -> dict[str, Any]:
    request = json.loads(line)
    try:
        result = TOOLS[request["method"]](**request.get("params", {}))
    except (KeyError, TypeError, OSError) as error:
        return {"id": request.get("id"), "error": str(error)}
    return {"id": request.get("id"), "result": result}


def main() -> None:
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(answer(line)), flush=True)


if __name__ == "__main__":
    main()
