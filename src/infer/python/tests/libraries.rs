//! What libraries do.

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
