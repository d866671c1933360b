"""Makes trees below the current directory and prints cases for them, as JSON. argv: seed, trees, cases a tree.

Bytes are strings of Latin 1. The trees stay as they are; what creates or cuts files is tried in `bare/N` and `held/N`,
which are made alike.
"""
import json, os, random, sys

seed, tree_count, case_count = map(int, sys.argv[1:4])
dice = random.Random(seed)
here = os.getcwdb()
ODD = [b"a", b"b", b"c", b"..x", b"...", b"x (deleted)", b"sp ace", b"new\nline", b"\xff\xfe", b"\xc3\xa9", b"*", b"[z]",
       b"{q,r}", b"back\\slash", b"~", b"-", b"%s", b".hidden", b"l" * 255, b"k" * 200, b"proc", b"self", b"fd", b"50"]
SECRET = [b".env", b".env.local", b"server.pem", b"id.key", b"credentials", b"credentials.json"]
O = {name: getattr(os, name) for name in dir(os) if name.startswith("O_")}
# What the driver opens at these numbers; 99 is closed.
TOP, DIRECTORY, PATH_DIRECTORY, FILE, DELETED, PIPE, PATH_LINK, DELETED_FILE, PATH_FILE = range(50, 59)
CWD = -100


class Tree:
    def __init__(self, top):
        self.top, self.directories, self.files, self.links, self.names = top, [top], [], [], set()
        os.makedirs(top)
        for _ in range(dice.randint(6, 14)):
            self.add(os.mkdir, self.directories, dice.choice(ODD))
        for _ in range(dice.randint(6, 14)):
            self.add(write, self.files, dice.choice(ODD))
        for name in dice.sample(SECRET, 3):
            self.add(write, self.files, name)
        for special in (b"secrets", b".git/hooks", b".vscode"):
            directory = self.directories[0] + b"/" + special
            os.makedirs(directory)
            self.directories.append(directory)
            write(directory + b"/inside")
            self.files.append(directory + b"/inside")
        self.add(os.mkfifo, self.files, b"fifo")
        for source in dice.sample(self.files[:6], 2):
            self.add(lambda path: os.link(source, path), self.files, dice.choice(ODD))
        for _ in range(dice.randint(15, 25)):
            self.add(lambda path: os.symlink(self.target(path), path), self.links, dice.choice(ODD)[:240] + b".l")
        if dice.random() < 0.3:
            self.chain(dice.choice([38, 39, 40, 41, 42, 45]))
        self.deep = self.dig() if dice.random() < 0.2 else None
        open_directories = [name for name in self.directories if not name.endswith(b"/secrets")]
        self.cwd = dice.choice(open_directories)
        self.base = {number: dice.choice(open_directories) for number in (DIRECTORY, PATH_DIRECTORY)}
        self.base |= {TOP: top, CWD: self.cwd}

    def add(self, make, names, name):
        path = dice.choice(self.directories) + b"/" + name
        while os.path.lexists(path):
            path = dice.choice(self.directories) + b"/" + dice.choice(ODD)[:240] + b"%d" % dice.randint(0, 999)
        make(path)
        names.append(path)

    def some(self):
        return dice.choice(dice.choice([self.directories, self.files, self.links or self.files]))

    def target(self, link):
        """Where a new link leads."""
        some = self.some()
        relative = os.path.relpath(some, os.path.dirname(link))
        numbers = [TOP, DIRECTORY, PATH_DIRECTORY, FILE, DELETED, PIPE, PATH_LINK, DELETED_FILE, PATH_FILE, 99]
        descriptor = b"%d" % dice.choice(numbers)
        below = os.path.relpath(some, self.top)
        return dice.choice([
            relative, relative, relative, some, some, b".", b"..", b"../" * dice.randint(1, 9), relative + b"/",
            relative.replace(b"/", b"//./"), b"./" * dice.randint(100, 1900) + relative, b"nothing", b"nothing/" + below,
            os.path.basename(link), os.path.basename(self.some()), relative + b"/..", relative + b"/../" + below,
            b"/proc/self/cwd", b"/proc/self/cwd/" + below, b"/proc/self/root" + some, b"/proc/thread-self/cwd/.",
            b"/proc/self/fd/" + descriptor, b"/dev/fd/" + descriptor, b"/proc/self/fd/50/" + below,
            b"/proc/self/../self/fd/" + descriptor, b"/proc/self/task/../root" + some, b"/proc/self", b"/proc/self/exe",
            b"/dev/stdin", b"/", b"/etc/passwd", b"/usr", b"/../.." + some, here, os.path.dirname(here) + b"/outside",
            b"/proc/self/fd/%d/%s" % (DIRECTORY, dice.choice(ODD)), b"/etc/shadow",
        ])[:4095]

    def chain(self, length):
        """A link through many links: the kernel follows forty."""
        for number in range(length):
            following = b"chain%d" % (number + 1) if number + 1 < length else os.path.relpath(self.files[0], self.top)
            os.symlink(following, self.top + b"/chain%d" % number)
        self.links.append(self.top + b"/chain0")

    def dig(self):
        """A directory with a longer name than a path may have: 20 levels of 250 bytes."""
        level = os.open(self.top, os.O_RDONLY)
        for _ in range(20):
            os.mkdir(b"d" * 250, dir_fd=level)
            next_level = os.open(b"d" * 250, os.O_RDONLY, dir_fd=level)
            os.close(level)
            level = next_level
        os.close(os.open("file", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=level))
        os.symlink("file", "link", dir_fd=level)
        os.close(level)
        return 20

    def case(self):
        base = dice.choice([CWD, TOP, DIRECTORY, PATH_DIRECTORY] * 6 + [FILE, DELETED, PIPE, PATH_LINK, PATH_FILE, 99])
        start = self.base.get(base, self.top)
        if self.deep and dice.random() < 0.15:
            path = (b"d" * 250 + b"/") * dice.choice([1, 10, 15, 16]) + dice.choice([b"", b"file", b"link", b"."])
            base = dice.choice([TOP, 60])  # 60 is the deepest
            if base == 60:
                path = dice.choice([b"file", b"link", b".", b"..", b"../" * 3, b"nothing", b"../" + b"d" * 250 + b"/file"])
        else:
            path = self.walk(start) if dice.random() < 0.5 else os.path.relpath(self.some(), start)
            path = self.place(path, start)
        return path_case(base, mangle(path))

    def walk(self, directory):
        """A path along names that are there, through links too."""
        words = []
        for _ in range(dice.randint(1, 7)):
            try:
                names = sorted(os.listdir(directory))
            except OSError:
                break
            word = dice.choice(names + [b".", b"..", b".", b".."]) if names else b".."
            words.append(word)
            directory += b"/" + word
            if not os.path.isdir(directory) or len(os.path.realpath(directory)) < len(here):
                break
        return b"/".join(words) or b"."

    def place(self, path, start):
        """The same path from elsewhere."""
        kind = dice.random()
        below = os.path.relpath(start, self.top)
        if kind < 0.6:
            return path
        return dice.choice([
            start + b"/" + path, start + b"/" + path, b"/proc/self/root" + start + b"/" + path, b"/.." + start + b"/" + path,
            b"/proc/self/fd/50/" + below + b"/" + path, b"/dev/fd/50/" + below + b"/" + path,
            b"/proc/thread-self/fd/%d/%s" % (DIRECTORY, path), b"/proc/self/cwd/" + path, b"/proc/self/fd/%d" % FILE,
            b"/proc/self/fd/%d" % dice.choice([DELETED, PIPE, PATH_LINK, DELETED_FILE, PATH_FILE, 99, 60]),
            b"/proc/self/fd/%d/." % DELETED, b"//" + start + b"//" + path, b"/proc/self/fd/51/../" + path,
        ])


def write(path):
    with open(path, "wb") as file:
        file.write(b"content of " + path[-200:])


def mangle(path):
    """Dots, slashes, names that aren't there, padding."""
    for _ in range(dice.choice([0, 0, 0, 0, 0, 1, 1, 2])):
        words = path.split(b"/")
        position = dice.randint(0, len(words))
        change = dice.random()
        if change < 0.3:
            words.insert(position, b".")
        elif change < 0.45 and position:
            words.insert(position, b"")
        elif change < 0.6:
            words.insert(position, b"..")
        elif change < 0.75 and position:
            words[position:position] = [b"..", words[position - 1] or b"."]
        elif change < 0.8:
            words.insert(position, dice.choice([b"nothing", b"n" * 255, b"n" * 256, b"*", b".env"]))
        else:
            words.append(dice.choice([b"", b".", b"..", b"./", b"/"]))
        path = b"/".join(words)
    if dice.random() < 0.06:
        length = dice.choice([4094, 4095, 4096, 4097, dice.randint(3000, 5000)])
        at = path.find(b"/") + 1
        padding = (dice.choice([b"./", b"/"]) * 5000)[:max(0, length - len(path)) & ~1]
        path = path[:at] + padding + path[at:] if at else b"./" + padding + path
    return b"" if dice.random() < 0.005 else path


def path_case(base, path):
    flags = dice.choices([O["O_RDONLY"], O["O_WRONLY"], O["O_RDWR"]], [8, 1, 1])[0]
    for name, often in (("O_DIRECTORY", 0.08), ("O_NOFOLLOW", 0.2), ("O_PATH", 0.2), ("O_CLOEXEC", 0.5), ("O_APPEND", 0.1)):
        if dice.random() < often:
            flags |= O[name]
    case = {"base": base, "path": path.decode("latin-1"), "flags": flags | O["O_NONBLOCK"] | O["O_NOCTTY"], "call": "openat"}
    kind = dice.random()
    if kind < 0.3:
        case["call"] = "openat2"
        case["resolve"] = dice.choices([0, 1, 2, 4, 8, 16, 32, dice.randint(0, 63), 64], [4, 4, 4, 4, 6, 6, 1, 4, 1])[0]
        case["size"] = dice.choices([24, 32, 40, 8, 23, 5000], [30, 1, 1, 1, 1, 1])[0]
    elif kind < 0.5 and base == CWD:
        case["call"] = "open"
    if dice.random() < 0.01:
        case["unterminated"] = True
    return case


def creation(number):
    """A small directory, twice, and a call that may create or cut something in it."""
    links = {b"link": b"file", b"dangling": b"new", b"up": b"..", b"inside": b"directory", b"beyond": b"directory/new",
             b"loop": b"loop", b"hidden": b".env", b"fresh": b"new.pem", b"slash": b"directory/", b"other": b"dangling"}
    chosen = {name: target for name, target in links.items() if dice.random() < 0.6}
    for side in (b"bare", b"held"):
        top = here + b"/%s/%d" % (side, number)
        os.makedirs(top + b"/directory")
        write(top + b"/file")
        os.link(top + b"/file", top + b"/directory/hard")
        write(top + b"/.env")
        for name, target in chosen.items():
            os.symlink(target, top + b"/" + name)
    names = list(links) + [b"file", b"new", b"directory", b".env", b"x.key", b"directory/new", b"directory/hard", b"."]
    path = dice.choice(names)
    if dice.random() < 0.2:
        path = dice.choice([b"up/%d/" % number, b"inside/", b"inside/../", b"directory/", b"./", b"slash/", b"link/"]) + path
    if dice.random() < 0.2:
        path += dice.choice([b"/", b"/.", b"/..", b"//", b"/new", b"x" * 252])
    case = path_case(dice.choice([CWD, TOP]), path)
    case["flags"] &= ~O["O_PATH"]
    case["flags"] |= dice.choice([O["O_CREAT"]] * 4 + [0]) | dice.choice([0, O["O_EXCL"]]) | dice.choice([0, 0, O["O_TRUNC"]])
    case["flags"] |= dice.choice([0, os.O_WRONLY]) if not case["flags"] & 3 else 0
    case |= {"mode": dice.choice([0o644, 0o600, 0o777, 0o755, 0o620]), "umask": dice.choice([0o022, 0o077, 0]), "create": number}
    if case["call"] == "open" and dice.random() < 0.2:
        case["call"] = "creat"
    return case


write(os.path.dirname(here) + b"/outside")
os.mkdir(b"trees")
groups = []
for number in range(tree_count):
    tree = Tree(here + b"/trees/%d" % number)
    opened = {TOP: tree.top, **tree.base, FILE: tree.files[0], PATH_FILE: tree.files[1], PATH_LINK: tree.links[0]}
    groups.append({
        "cwd": tree.cwd.decode("latin-1"), "deep": tree.deep, "gone": number % 10 == 9,
        "opened": [[number, path.decode("latin-1")] for number, path in opened.items() if number > 0],
        "cases": [tree.case() for _ in range(case_count)],
    })
creations = [creation(number) for number in range(tree_count * case_count // 10)]
groups.append({"cwd": None, "deep": None, "gone": False, "opened": [], "cases": creations})
json.dump(groups, sys.stdout)
