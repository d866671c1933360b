"""Runs inside the sandbox: takes code from standard input, and answers on what was standard output.

It serves the untrusted code and guards nothing: whatever the code does to it, the other side reads plain values alone.
"""

import ast
import base64
import json
import linecache
import os
import sys
import threading
import traceback
from typing import Any, Dict

_TAG = "$"
# What the other side takes of a message: bytes, values, and digits of a number (4300 of them have 14,284 bits).
_LONGEST, _MOST_VALUES, _MOST_BITS = 4 * 1024 * 1024, 500_000, 14_280


class Kept:
    """Something that stayed outside, to be passed back."""

    def __init__(self, number: Any, text: str) -> None:
        self._number, self._text = number, text

    def __repr__(self) -> str:
        return f"<kept outside: {self._text}>"


class Ended(BaseException):
    """A function ended the code."""


def encoded(message: Any) -> bytes:
    line = json.dumps(message).encode() + b"\n"
    if len(line) > _LONGEST or sum(map(line.count, (b"[", b"{", b","))) > _MOST_VALUES:
        raise ValueError("the value is too large to leave the sandbox; print a part of it, or write it to a file")
    return line


def tagged(value: Any) -> Any:
    kind = type(value)
    if kind is int and value.bit_length() > _MOST_BITS:
        raise ValueError("the number is too long to leave the sandbox; make a string of it")
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if value - value == 0 else {_TAG: "float", "v": repr(value)}
    if kind is list:
        return [tagged(one) for one in value]
    if kind in (tuple, set, frozenset):
        return {_TAG: kind.__name__, "v": [tagged(one) for one in value]}
    if kind is bytes:
        return {_TAG: "bytes", "v": base64.b64encode(value).decode()}
    if kind is dict:
        if all(type(key) is str for key in value) and _TAG not in value:
            return {key: tagged(one) for key, one in value.items()}
        return {_TAG: "dict", "v": [[tagged(key), tagged(one)] for key, one in value.items()]}
    if kind is Kept:
        return {_TAG: "kept", "v": value._number}
    plain = getattr(value, "item", None)  # a number of numpy
    if callable(plain) and getattr(value, "shape", None) == ():
        return tagged(plain())
    raise TypeError(f"a value of type {kind.__name__} can't leave the sandbox; make a list, a dict or a string of it")


def described(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return f"a {type(value).__name__} without a description"


def untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [untagged(one) for one in value]
    if not isinstance(value, dict):
        return value
    if _TAG not in value:
        return {key: untagged(one) for key, one in value.items()}
    kind, content = value[_TAG], value["v"]
    if kind == "float":
        return float(content)
    if kind == "bytes":
        return base64.b64decode(content)
    if kind == "dict":
        return {untagged(key): untagged(one) for key, one in content}
    if kind == "kept":
        return Kept(content, value["repr"])
    makers: Dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}
    return makers[kind](untagged(one) for one in content)


def shortened(answer: Dict[str, Any]) -> Dict[str, Any]:
    texts = {key: part if isinstance(part, str) else described(part) for key, part in answer.items() if part is not None}
    return {**answer, **{key: text[:20_000] for key, text in texts.items()}}


class Worker:
    def __init__(self) -> None:
        # The code's programs get neither of them.
        self.requests = os.fdopen(os.dup(0), "rb")
        self.answers = os.fdopen(os.dup(1), "wb")
        self.output = os.memfd_create("output")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(self.output, 1)
        os.dup2(self.output, 2)
        self.lock = threading.Lock()
        self.names: Dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
        self.number = 0
        self.id = ""

    def answer(self, message: Any) -> None:
        line = encoded(message)
        self.answers.write(line)
        self.answers.flush()

    def serve(self) -> None:
        for line in self.requests:
            request = json.loads(line)
            self.id = request["id"]
            answer: Dict[str, Any] = {"do": "done"}
            if request["do"] == "functions":
                for name in request["names"]:
                    self.names[name] = self.function(name, name in request["enders"])
            elif request["do"] == "set":
                self.names.update(untagged(request["variables"]))
            else:
                answer = self.run(request["code"], request["most"])
            try:
                self.answer({**answer, "id": request["id"]})
            except ValueError:  # its parts are together too large
                self.answer({**shortened(answer), "id": request["id"]})

    def function(self, name: str, is_ender: bool) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            with self.lock:
                self.answer({"do": "call", "name": name, "args": tagged(list(args)), "kwargs": tagged(kwargs)})
                told = json.loads(self.requests.readline())
            if "error" in told:
                raise RuntimeError(told["error"])
            if is_ender:
                raise Ended(name, told["value"])
            return untagged(told["value"])

        call.__name__ = call.__qualname__ = name
        return call

    def run(self, code: str, most: int) -> Any:
        value, error, ending = None, None, None
        self.number += 1
        file = f"<code {self.number}>"
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)
        try:
            tree = ast.parse(code, file)
            last = tree.body[-1] if tree.body else None
            if isinstance(last, ast.Expr):
                tree.body.pop()
            exec(compile(tree, file, "exec"), self.names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), file, "eval"), self.names)
        except Ended as ended:
            ending, told = ended.args
            return self.done(told, None, ending, most)
        except BaseException as raised:
            here = raised.__traceback__ and raised.__traceback__.tb_next
            error = "".join(traceback.format_exception(type(raised), raised, here))[-most:]
        try:
            value = tagged(value)
            encoded([value])
        except Exception:  # not plain, nested too deep, or too large
            value = described(value)[:most]
        return self.done(value, error, None, most)

    def done(self, value: Any, error: Any, ending: Any, most: int) -> Any:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        length = os.fstat(self.output).st_size
        text = os.pread(self.output, most, 0).decode("utf-8", "replace")
        if length > most:
            text += f"\n… {length - most} bytes more"
        os.ftruncate(self.output, 0)
        os.lseek(self.output, 0, os.SEEK_SET)
        return {"do": "done", "value": value, "error": error, "ending": ending, "output": text}


if __name__ == "__main__":
    sys.path.insert(0, "")
    Worker().serve()
