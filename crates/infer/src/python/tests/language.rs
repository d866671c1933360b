//! Language features.

use super::check;

#[test]
fn names_are_followed_through_imports() {
    check(&[
        ("open('a')", &["read a"]),
        ("import os as o\no.remove('a')", &["write a"]),
        ("from os import remove as r\nr('a')", &["write a"]),
        ("import os.path\nos.path.exists('a')", &["read a"]),
        ("import os.path as p\np.exists('a')", &["read a"]),
        (
            "def f():\n  from shutil import rmtree\n  rmtree('a')\nf()",
            &["write a"],
        ),
        (
            "import importlib\nimportlib.import_module('os').remove('a')",
            &["write a"],
        ),
        ("__import__('os').remove('a')", &["write a"]),
        ("from os import *\nremove('a')", &["write a"]),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  import strange",
            &[],
        ),
        ("import strange\nstrange.run()", &["unknown module strange"]),
        ("import beside\nbeside.run()", &["Unfollowed(\"beside\")", "read ."]),
        ("from .helpers import run", &["Unfollowed(\".helpers\")", "read ."]),
        (
            "import sys\nsys.path.insert(0, 'src')\nfrom app import run\nimport app.x",
            &["Unfollowed(\"app\")", "read src"],
        ),
        (
            "from os import *\ngetenv('A')\nenviron['B']",
            &["variable A", "variable B"],
        ),
        ("import os\ng = getattr(os, 're' + 'move')\ng('a')", &["write a"]),
        ("import os\ngetattr(os, input())('a')", &["ComputedName"]),
        (
            "n = input()\nimport importlib\nimportlib.import_module(n)",
            &["ComputedImport"],
        ),
    ]);
}

#[test]
fn shadowed_names_and_dead_code_do_not_count() {
    check(&[
        ("def open(x): return x\nopen('a')", &[]),
        ("def f(open):\n  open('a')\nf(print)", &[]),
        ("# open('a')\n'''open(1)'''", &[]),
        ("def f():\n  open('a')", &[]),
        ("if False:\n  open('a')", &[]),
        ("if 0:\n  open('a')\nelse:\n  open('b')", &["read b"]),
        ("if __name__ == '__main__':\n  open('a')", &["read a"]),
        ("import sys\nsys.exit(0)\nopen('a')", &[]),
        ("import sys\nx = input() or sys.exit(1)\nopen('a')", &["read a"]),
        ("def f():\n  return 1\n  open('a')\nf()", &[]),
        ("DRY = True\nif not DRY:\n  open('a', 'w')", &[]),
        ("x: 'open(1)' = 1", &[]),
    ]);
}

#[test]
fn constants_are_folded() {
    check(&[
        ("B = 'data'\nopen(B + '/' + 'a')", &["read data/a"]),
        ("B = 'data'\nopen(f'{B}/a')", &["read data/a"]),
        ("open('%s/%s' % ('data', 'a'))", &["read data/a"]),
        ("open('{}/{x}'.format('data', x='a'))", &["read data/a"]),
        ("import os\nopen(os.path.join('data', 'a'))", &["read data/a"]),
        (
            "from pathlib import Path\n(Path('data') / 'a').read_text()",
            &["read data/a"],
        ),
        (
            "from pathlib import Path\nPath(__file__).parent.joinpath('a').read_text()",
            &["read ./a"],
        ),
        (
            "from pathlib import Path\nPath(__file__).resolve().parent.parent.joinpath('a').read_text()",
            &["read ../a"],
        ),
        (
            "from pathlib import Path\nPath('data/a.csv').with_suffix('.json').write_text('')",
            &["write data/a.json"],
        ),
        (
            "import base64\nopen(base64.b64decode('L2V0Yy9ob3N0cw==').decode())",
            &["read /etc/hosts"],
        ),
        ("open('/'.join(['data', 'a']))", &["read data/a"]),
        ("open('stsoh/cte/'[::-1])", &["read /etc/hosts"]),
        ("C = {'in': {'path': 'a'}}\nopen(C['in']['path'])", &["read a"]),
        ("C = {'in': 'a'}\nopen(C.get('in', 'b'))", &["read a"]),
        (
            "for n in ['a', 'b']:\n  open(f'data/{n}')",
            &["read data/a", "read data/b"],
        ),
        (
            "for k, v in {'x': 'a', 'y': 'b'}.items():\n  open(v)",
            &["read a", "read b"],
        ),
        ("for i, n in enumerate(('a', 'b')):\n  open(n)", &["read a", "read b"]),
        ("[open(n) for n in ('a', 'b')]", &["read a", "read b"]),
        (
            "import sys\nopen(sys.argv[1] if len(sys.argv) > 1 else 'a')",
            &["read a", "read …"],
        ),
        (
            "a, (b, *c) = 'x', ('y', 'z')\nopen(b)\nopen(c[0])",
            &["read y", "read z"],
        ),
        ("x = 'a'\nx += 'b'\nopen(x)", &["read ab"]),
        (
            "import os\nos.environ['TOKEN']\nos.environ.get('A', 'b')\nos.getenv('C')",
            &["variable A", "variable C", "variable TOKEN"],
        ),
        ("import os\ne = os.environ\ne['A']", &["variable A"]),
        ("import os\ndict(os.environ)", &["variable …"]),
        (
            "import os\nopen(os.path.expanduser('~/a'))",
            &["read ~/a", "variable HOME"],
        ),
    ]);
}

#[test]
fn functions_are_followed() {
    check(&[
        (
            "def f(p, mode='r'):\n  return open(p, mode)\nf('a')\nf('b', mode='w')",
            &["read a", "write b"],
        ),
        ("def p(n):\n  return 'data/' + n\nopen(p('a'))", &["read data/a"]),
        (
            "def f(*ps):\n  for p in ps:\n    open(p)\nf('a', 'b')",
            &["read a", "read b"],
        ),
        ("def f(**k):\n  open(k['p'])\nf(p='a')", &["read a"]),
        (
            "def f(p=None):\n  if p is None:\n    p = 'a'\n  open(p)\nf()",
            &["read a"],
        ),
        ("def f(p):\n  p = p or 'a'\n  open(p)\nf(None)", &["read a"]),
        ("def f(x):\n  open('a')\nfoo = print\nfoo(f)", &["read a"]),
        (
            "def w(fn):\n  def inner(*a, **k):\n    return fn(*a, **k)\n  return inner\n@w\ndef f(p):\n  open(p)\nf('a')",
            &["read a"],
        ),
        (
            "import threading\ndef f(p):\n  open(p)\nthreading.Thread(target=f, args=('a',)).start()",
            &["read a"],
        ),
        (
            "from functools import partial\ndef f(a, b):\n  open(a + b)\npartial(f, 'x')('y')",
            &["read xy"],
        ),
        (
            "def g():\n  yield 'a'\n  yield 'b'\nfor p in g():\n  open(p)",
            &["read a", "read b"],
        ),
        (
            "from contextlib import contextmanager\n@contextmanager\ndef g():\n  yield 'a'\nwith g() as p:\n  open(p)",
            &["read a"],
        ),
        (
            "import asyncio\nasync def f():\n  open('a')\nasyncio.run(f())",
            &["read a"],
        ),
        ("f = lambda p: open(p)\nf('a')", &["read a"]),
        ("x = 'a'\ndef f():\n  global x\n  x = 'b'\nf()\nopen(x)", &["read b"]),
        ("if (p := 'a'):\n  open(p)", &["read a"]),
        ("def f(n):\n  open('a')\n  f(n - 1)\nf(3)", &["read a"]),
        (
            "from pathlib import Path\ndef f(p: Path):\n  p.read_text()\nprint(f)",
            &["read …"],
        ),
    ]);
}

#[test]
fn objects_are_followed() {
    check(&[
        (
            "class A:\n  def __init__(self, p):\n    self.p = p\n  def run(self):\n    open(self.p)\nA('a').run()",
            &["read a"],
        ),
        (
            "class A:\n  P = 'a'\n  def run(self):\n    open(self.P)\nA().run()",
            &["read a"],
        ),
        (
            "class A:\n  def go(self):\n    open('a')\nclass B(A):\n  pass\nB().go()",
            &["read a"],
        ),
        (
            "class A:\n  def __init__(self, p):\n    self.p = p\nclass B(A):\n  def __init__(self):\n    super().__init__('a')\n  def go(self):\n    open(self.p)\nB().go()",
            &["read a"],
        ),
        (
            "class A:\n  @property\n  def p(self):\n    return 'a'\nopen(A().p)",
            &["read a"],
        ),
        (
            "class A:\n  @staticmethod\n  def f(p):\n    open(p)\n  @classmethod\n  def g(cls):\n    cls.f('a')\nA.g()",
            &["read a"],
        ),
        (
            "class A:\n  def __enter__(self):\n    return 'a'\n  def __exit__(self, *e):\n    open('b')\nwith A() as p:\n  open(p)",
            &["read a", "read b"],
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass C:\n  p: str = 'a'\nopen(C().p)\nopen(C('b').p)",
            &["read a", "read b"],
        ),
        ("class A:\n  def f(self):\n    open('a')\nA()", &[]),
        (
            "from http.server import *\nclass H(BaseHTTPRequestHandler):\n  def do_GET(self):\n    open('a')\nHTTPServer(('', 80), H)",
            &["listen", "read a"],
        ),
        (
            "class A:\n  def do_x(self):\n    open('a')\n  def run(self, c):\n    getattr(self, 'do_' + c)()\nA().run(input())",
            &["read a"],
        ),
    ]);
}

#[test]
fn every_way_is_taken() {
    check(&[
        (
            "if input():\n  p = 'a'\nelse:\n  p = 'b'\nopen(p)",
            &["read a", "read b"],
        ),
        (
            "try:\n  open('a')\nexcept OSError:\n  open('b')\nfinally:\n  open('c')",
            &["read a", "read b", "read c"],
        ),
        (
            "p = None\nfor l in input():\n  if p is not None:\n    open('a')\n  p = l",
            &["read a"],
        ),
        (
            "for p in input():\n  if p:\n    q = 'a'\n    break\nopen(q)",
            &["read a"],
        ),
        (
            "match input():\n  case 'x':\n    open('a')\n  case _:\n    open('b')",
            &["read a", "read b"],
        ),
        ("while True:\n  open('a')", &["read a"]),
        (
            "words = ['ls']\nif input():\n  words.append('-l')\nimport subprocess\nsubprocess.run(words)",
            &["start ls", "start ls -l"],
        ),
    ]);
}

#[test]
fn code_in_code_is_found() {
    check(&[
        ("exec('open(1)')", &["code open(1)"]),
        ("eval(input())", &["BuiltCode"]),
        ("import os\nos.system('ls')", &["shell ls"]),
        (
            "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'print(1)'])",
            &["start python3 -c print(1)"],
        ),
        (
            "import subprocess\nsubprocess.check_output('ls | wc', shell=True)",
            &["shell ls | wc"],
        ),
    ]);
}
