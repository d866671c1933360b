//! Effects of libraries.

use super::check;

#[test]
fn hosts_are_found() {
    check(&[
        (
            "import requests\nrequests.get('https://a.example/x')",
            &["connect https://a.example/x"],
        ),
        (
            "import requests\ns = requests.Session()\ns.post('https://a.example/x')",
            &["connect https://a.example/x"],
        ),
        (
            "import httpx\nwith httpx.Client(base_url='https://a.example') as c:\n  c.get('/x')",
            &["connect https://a.example/x"],
        ),
        (
            "from urllib.request import urlopen, Request\nurlopen(Request('https://a.example/'))",
            &["connect https://a.example/"],
        ),
        ("import socket\ns = socket.socket()\ns.bind(('', 1))", &["listen"]),
        (
            "import socket\nsocket.socket().connect(('a.example', 80))",
            &["connect a.example:80"],
        ),
        (
            "import socket\nsocket.create_connection(('a.example', int(input())))",
            &["connect a.example"],
        ),
        (
            "from multiprocessing.connection import Client, Listener\nListener(('', 1))\nClient(('a.example', 1))",
            &["connect a.example:1", "listen"],
        ),
        (
            "from multiprocessing.managers import BaseManager\nBaseManager(('', 1)).get_server()",
            &["listen"],
        ),
        (
            "import pandas as pd\npd.read_csv('https://a.example/x.csv')",
            &["connect https://a.example/x.csv"],
        ),
    ]);
}

#[test]
fn files_are_found() {
    check(&[
        ("import sqlite3\nsqlite3.connect(':memory:')", &[]),
        ("import sqlite3\nsqlite3.connect('a.db')", &["read a.db", "write a.db"]),
        (
            "import sqlite3\nsqlite3.connect('file:data/a.db?mode=ro', uri=True)",
            &["read data/a.db"],
        ),
        (
            "import tempfile\nwith tempfile.TemporaryDirectory() as d:\n  open(d + '/x', 'w')",
            &["write /tmp", "write /tmp/…/x"],
        ),
        ("import tarfile\ntarfile.open('a.tar', 'r:xz')", &["read a.tar"]),
        (
            "import pandas as pd\nd = pd.read_csv('data/a.csv')\nd.groupby('x').sum().to_csv('out.csv')",
            &["read data/a.csv", "write out.csv"],
        ),
        ("import pandas as pd, io\npd.read_csv(io.StringIO('a'))", &[]),
        (
            "from pathlib import Path\nfor p in Path('data').glob('*.csv'):\n  p.read_text()",
            &["read data", "read data/…"],
        ),
        (
            "import os\nfor n in os.listdir('data'):\n  open(os.path.join('data', n))",
            &["read data", "read data/…"],
        ),
        (
            "import glob\nfor p in glob.glob('data/*.csv'):\n  open(p)",
            &["read data/*.csv", "read data/…"],
        ),
        ("import json, sys\njson.load(sys.stdin)", &[]),
        ("import shutil\nshutil.copy('a', 'b')", &["read a", "write b"]),
        (
            "import os\nos.chdir('data')\nopen('a')",
            &["enter data", "read a", "read data"],
        ),
        ("x = object()\ndef f(p):\n  p.write_text('')\nprint(f)", &["write …"]),
    ]);
}

#[test]
fn files_that_calls_write_by_the_way_are_found() {
    check(&[
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('-o', type=argparse.FileType('w'), default='/tmp/x')",
            &["write /tmp/x", "write …"],
        ),
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('f', type=argparse.FileType())",
            &["read …"],
        ),
        ("import numpy as np\nnp.zeros(3).tofile('a')", &["write a"]),
        ("import numpy as np\nnp.zeros(3).dump('a')", &["write a"]),
        ("import numpy as np\nnp.memmap('a', mode='w+')", &["write a"]),
        ("import numpy as np\nnp.memmap('a', mode='r')", &["read a"]),
        ("import numpy as np\nnp.memmap('a')", &["write a"]),
        ("import numpy as np\nnp.savetxt(fname='a', X=1)", &["write a"]),
        (
            "import sqlite3\nsqlite3.connect(':memory:').execute(\"ATTACH DATABASE 'a.db' AS b\")",
            &["read a.db", "write a.db"],
        ),
        (
            "import tracemalloc\ntracemalloc.start()\ntracemalloc.take_snapshot().dump('a')",
            &["write a"],
        ),
        (
            "from logging.config import dictConfig\ndictConfig({'handlers': {'f': {'class': 'logging.FileHandler', 'filename': 'a'}}})",
            &["write a"],
        ),
        (
            "import logging.config\nlogging.config.dictConfig({'handlers': {}})",
            &[],
        ),
        (
            "import logging.config, json\nlogging.config.dictConfig(json.load(open('a')))",
            &["read a", "write …"],
        ),
        (
            "import logging.config\nlogging.config.fileConfig('a')",
            &["read a", "write …"],
        ),
    ]);
}

#[test]
fn code_that_calls_run_is_found() {
    check(&[
        (
            "import cProfile\ndef f():\n  open('a')\ncProfile.run('f()', 'b')",
            &["code f()", "read a", "write b"],
        ),
        (
            "import timeit\ntimeit.timeit('f(1)', setup='from os import *')",
            &["code import os\nfrom os import *\nf(1)"],
        ),
        ("import timeit\ntimeit.timeit(input())", &["BuiltCode"]),
        (
            "import doctest\ndef f():\n  \"\"\"x\n  >>> f()\n  1\n  \"\"\"\n  open('a')\ndoctest.testmod()",
            &["code f()\n", "read a"],
        ),
        ("def f():\n  open('a')\neval('f()')", &["code f()", "read a"]),
        (
            "import runpy\nrunpy.run_path('a.py')",
            &["OtherFile(\"a.py\")", "read a.py"],
        ),
    ]);
}
