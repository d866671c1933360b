//! Listings, lists and dictionaries of unknown length, computed names.

use super::check;

#[test]
fn what_a_listing_gives_lies_below_its_directory() {
    check(&[
        (
            "import os\nfor r, ds, fs in os.walk('data'):\n  for f in fs:\n    open(os.path.join(r, f))",
            &["read data", "read data/…/…"],
        ),
        (
            "import glob\nfor f in sorted(glob.glob('data/*.csv'))[-3:]: open(f)",
            &["read data/*.csv", "read data/…"],
        ),
        (
            "import glob\nfor f in glob.glob('*.csv'): open(f)",
            &["read *.csv", "read ./…"],
        ),
        (
            "from pathlib import Path\nfor p in Path('.').glob('data/*.csv'): p.read_text()",
            &["read ./data", "read ./data/…"],
        ),
        (
            "from pathlib import Path\nall = []\nall += Path('a').iterdir()\nall.extend(Path('b').iterdir())\n\
             for i, p in enumerate(all): p.unlink()",
            &["read a", "read b", "write a/…", "write b/…"],
        ),
        (
            "import os\ndef below(d):\n  for e in os.scandir(d):\n    if e.is_dir(): yield from below(e.path)\n    \
             else: yield e.path\nfor p in below('a'): os.remove(p)",
            &["read a", "read a/…", "read a/…/…", "write a/…", "write a/…/…"],
        ),
    ]);
}

#[test]
fn dictionaries_of_unknown_keys_keep_what_their_values_are() {
    check(&[
        (
            "from pathlib import Path\nall = {p.name: p for p in Path('a').iterdir()}\nfor p in all.values(): p.unlink()",
            &["read a", "write a/…"],
        ),
        (
            "import os, sys\nall = {k: os.remove for k in sys.argv}\nfor k, f in all.items(): f('a')",
            &["write a"],
        ),
        (
            "import glob\nif not glob.glob('a/*'):\n  open('b', 'w')",
            &["read a/*", "write b"],
        ),
    ]);
}

#[test]
fn computed_names_of_what_acts_are_opaque() {
    check(&[
        ("import os, sys\ngetattr(os, sys.argv[1])('x')", &["ComputedName"]),
        ("import os, sys\nvars(os)[sys.argv[1]]('x')", &["ComputedName"]),
        ("import sys\nsys.modules[sys.argv[1]].remove('x')", &["ComputedName"]),
        (
            "import os, sys\nall = {k: getattr(os, k) for k in sys.argv}\nfor k, f in all.items(): f('a')",
            &["ComputedName"],
        ),
        ("import hashlib, sys\ngetattr(hashlib, sys.argv[1])(b'x')", &[]),
        (
            "import operator, shutil\noperator.methodcaller('rm' + 'tree', 'a')(shutil)",
            &["write a"],
        ),
        (
            "import os\nfrom operator import attrgetter\nattrgetter('remove')(os)('a')",
            &["write a"],
        ),
    ]);
}

#[test]
fn urls_are_taken_apart_and_put_together() {
    check(&[
        (
            "import http.client\nfrom urllib.parse import urlsplit\nu = urlsplit('http://localhost:81/x?y')\n\
             http.client.HTTPConnection(u.hostname, u.port)\nopen(u.path)",
            &["connect http://localhost:81", "read /x"],
        ),
        (
            "from urllib.parse import urlunsplit\nfrom urllib.request import urlopen\n\
             urlopen(urlunsplit(('https', 'a.example', 'x', '', '')))",
            &["connect https://a.example/x"],
        ),
        (
            "import fileinput\nfor l in fileinput.input('a', inplace=True): pass",
            &["read a", "write a", "write a.bak"],
        ),
    ]);
}
