//! Python scripts.

use super::case::{Case, each_names_its_denial_first, in_thirds, python_words};

const fn case(profile: &'static str, access: &'static str, target: &'static str, script: &'static str) -> Case {
    Case {
        profile,
        access,
        target,
        script,
    }
}

const READING: &[Case] = &[
    case("minimal", "read", "@OUT/data.txt", "print(open('@OUT/data.txt').read())"),
    case("readonly", "read", "@OUT/data.txt", "import pathlib; pathlib.Path('@OUT/data.txt').read_bytes()"),
    case("minimal", "read", "/etc/hosts", "open('/etc/hosts').read()"),
    case("filesystem", "read", "@OUT/data.txt", "open('link').read()"),
    case("minimal", "read", "@OUT/dir", "import os; print(os.listdir('@OUT/dir'))"),
    case("filesystem", "read", "@OUT/dir", "import glob; assert glob.glob('@OUT/dir/*.txt')"),
    case("workspace", "read", "@OUT/dir", "import os, sys; sys.exit(not [n for _, _, names in os.walk('@OUT/dir') for n in names])"),
    case("workspace", "read", "@OUT/dir", "import os\nwith os.scandir('@OUT/dir') as entries: print([e.name for e in entries])"),
    case("readonly", "read", "@OUT/data.txt", "import sys
try:
    open('@OUT/data.txt')
except OSError:
    print('could not load the settings', file=sys.stderr)
    sys.exit(1)"),
    case("minimal", "read", "@OUT/config.ini", "import sys
for path in ('/nowhere/app.ini', '/etc/app/app.ini', '/etc/app.ini', '@HOME/.app.ini', '@OUT/absent.ini', '@OUT/config.ini'):
    try:
        print(open(path).read()); break
    except OSError:
        continue
else:
    sys.exit('no configuration found')"),
    case("workspace", "read", "@OUT/config.ini", "import configparser
parser = configparser.ConfigParser()
try: found = parser.read(['/etc/tool.ini', '@HOME/.config/tool/config.ini', '@OUT/config.ini'])
except PermissionError: found = []
raise SystemExit(0 if found else 'no section: main')"),
    case("minimal", "read", "@OUT/data.txt", "import subprocess; subprocess.run(['cat', '@OUT/data.txt'], check=True)"),
    case("workspace", "read", "@OUT/data.txt", "import subprocess, sys
done = subprocess.run(['grep', 'outside', '@OUT/data.txt'], capture_output=True)
sys.exit(3 if done.returncode else 0)"),
    case("readonly", "read", "@OUT/module.py", "import importlib.util
spec = importlib.util.spec_from_file_location('module', '@OUT/module.py')
module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module); print(module.VALUE)"),
    case("filesystem", "read", "@OUT/modules", "import sys; sys.path.append('@OUT/modules'); import mymodule"),
    case("minimal", "read", "@OUT/archive.tar", "import tarfile; print(tarfile.open('@OUT/archive.tar').getnames())"),
    case("workspace", "read", "@OUT/archive.tar.gz", "import gzip; gzip.open('@OUT/archive.tar.gz').read()"),
    case("readonly", "read", "@OUT/app.db", "import sqlite3
print(sqlite3.connect('file:@OUT/app.db?mode=ro', uri=True).execute('select n from t').fetchall())"),
    case("minimal", "read", "@OUT/data.txt", "import os
directory = os.open('@OUT', os.O_PATH)
os.read(os.open('data.txt', os.O_RDONLY, dir_fd=directory), 10)"),
    case("workspace", "read", "@OUT/data.txt", "import os; os.chdir('@OUT'); open('data.txt').read()"),
    case("workspace", "read", "@OUT/data.txt", "import multiprocessing
child = multiprocessing.get_context('fork').Process(target=lambda: open('@OUT/data.txt').read())
child.start(); child.join(); raise SystemExit(child.exitcode)"),
];

const CHANGING: &[Case] = &[
    case("readonly", "create", "@OUT/new.txt", "open('@OUT/new.txt', 'w').write('x')"),
    case("workspace", "create", "@OUT/new.txt", "open('@OUT/new.txt', 'x').write('x')"),
    case("filesystem", "write", "@OUT/data.txt", "open('@OUT/data.txt', 'a').write('x')"),
    case("workspace --read @OUT", "write", "@OUT/data.txt", "open('@OUT/data.txt', 'r+').write('x')"),
    case("workspace", "create", "@OUT/app.log", "import logging
logging.basicConfig(filename='@OUT/app.log'); logging.error('x')"),
    case("workspace", "create", "@OUT/app.log", "import logging, sys
try: logging.getLogger().addHandler(logging.FileHandler('@OUT/app.log'))
except Exception as error: print('logging is broken:', type(error).__name__); sys.exit(7)"),
    case("readonly", "create", "@OUT/made", "import os; os.mkdir('@OUT/made')"),
    case("workspace", "create", "@OUT/made", "import os; os.makedirs('@OUT/made', exist_ok=True)"),
    case("workspace", "delete", "@OUT/data.txt", "import os; os.remove('@OUT/data.txt')"),
    case("readonly", "delete", "@OUT/empty", "import os; os.rmdir('@OUT/empty')"),
    case("workspace", "create", "@OUT/moved.txt", "import os; os.rename('mine.txt', '@OUT/moved.txt')"),
    case("workspace", "create|write|delete", "@OUT/data.txt", "import os; os.replace('mine.txt', '@OUT/data.txt')"),
    case("workspace", "delete", "@OUT/data.txt", "import os; os.rename('@OUT/data.txt', 'taken.txt')"),
    case("minimal", "metadata", "@OUT/data.txt", "import os; os.chmod('@OUT/data.txt', 0o600)"),
    case("workspace", "metadata", "@OUT/data.txt", "import os; os.utime('@OUT/data.txt')"),
    case("workspace", "metadata", "@OUT/data.txt", "import os; os.chown('@OUT/data.txt', os.getuid(), os.getgid())"),
    case("workspace", "metadata", "@OUT/data.txt", "import os; os.setxattr('@OUT/data.txt', 'user.probe', b'1')"),
    case("workspace", "create", "@OUT/link", "import os; os.symlink('data.txt', '@OUT/link')"),
    case("workspace", "create", "@OUT/hard", "import os; os.link('mine.txt', '@OUT/hard')"),
    case("workspace", "create", "@OUT/pipe", "import os; os.mkfifo('@OUT/pipe')"),
    case("filesystem", "write", "@OUT/data.txt", "import os; os.truncate('@OUT/data.txt', 3)"),
    case("workspace", "create", "@OUT/tmp*", "import tempfile; tempfile.NamedTemporaryFile(dir='@OUT').write(b'x')"),
    case("workspace", "create", "@OUT/work*", "import tempfile; tempfile.mkdtemp(prefix='work', dir='@OUT')"),
    case("workspace", "create", "@OUT/copy.txt", "import shutil; shutil.copyfile('mine.txt', '@OUT/copy.txt')"),
    case("workspace", "create", "@OUT/new.txt", "import subprocess; subprocess.run('echo x >@OUT/new.txt', shell=True, check=True)"),
    case("workspace", "write", "@OUT/app.db", "import sqlite3
connection = sqlite3.connect('@OUT/app.db')
connection.execute('pragma journal_mode = memory'); connection.execute('insert into t values (8)'); connection.commit()"),
    case("workspace --write @OUT/app.db", "create", "@OUT/app.db-journal", "import sqlite3
connection = sqlite3.connect('@OUT/app.db'); connection.execute('insert into t values (8)'); connection.commit()"),
];

const OTHERS: &[Case] = &[
    case(
        "minimal",
        "execute",
        "@OUT/tool",
        "import subprocess; subprocess.run(['@OUT/tool'], check=True)",
    ),
    case(
        "workspace",
        "execute",
        "@OUT/tool",
        "import os; os.execv('@OUT/tool', ['tool'])",
    ),
    case(
        "readonly",
        "execute",
        "@OUT/script.sh",
        "import subprocess; subprocess.run(['@OUT/script.sh'], check=True)",
    ),
    case(
        "workspace",
        "execute",
        "@OUT/tool",
        "import os, sys; sys.exit(os.system('@OUT/tool') != 0)",
    ),
    case(
        "minimal",
        "socket",
        "@OUT/socket",
        "import socket; socket.socket(socket.AF_UNIX).connect('@OUT/socket')",
    ),
    case(
        "workspace",
        "socket",
        "@OUT/socket",
        "import socket; socket.socket(socket.AF_UNIX).connect('@OUT/socket')",
    ),
];

in_thirds!(python_scripts_that_read_outside_are_told_what_they_lack, |third| {
    each_names_its_denial_first(&python_words(), READING, third)
});

in_thirds!(
    python_scripts_that_change_what_is_outside_are_told_what_they_lack,
    |third| { each_names_its_denial_first(&python_words(), CHANGING, third) }
);

in_thirds!(
    python_scripts_that_start_or_connect_to_what_is_outside_are_told_what_they_lack,
    |third| { each_names_its_denial_first(&python_words(), OTHERS, third) }
);
