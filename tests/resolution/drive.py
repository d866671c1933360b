"""Reads cases (trees.py makes them) and prints what each open gives: one line a case, "EXPECTED\\tANSWER".

argv: `bare` or `held`. Bare, it says what the confined twin may answer: `same`, `refused`, or `either`.
"""
import ctypes, errno, fcntl, json, mmap, os, stat, struct, sys

side, here = sys.argv[1], os.getcwdb()
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
INTEL = os.uname().machine == "x86_64"
NUMBERS = {"open": 2, "creat": 85, "openat": 257, "openat2": 437} if INTEL else {"openat": 56, "openat2": 437}
SECRETS = (b".env", b".pem", b".key")
PROC = os.stat("/proc/self").st_dev
LOOPS = 3
FLAGS = os.O_ACCMODE | os.O_APPEND | os.O_NONBLOCK | os.O_PATH


class Edge:
    """Memory before a page that can't be read: a call that reads too far fails."""
    PAGES = 3

    def __init__(self):
        size = (self.PAGES + 1) * mmap.PAGESIZE
        self.memory = mmap.mmap(-1, size)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.end = self.PAGES * mmap.PAGESIZE
        libc.mprotect(self.start + self.end, mmap.PAGESIZE, 0)

    def put(self, data):
        self.memory[self.end - len(data):self.end] = data
        return ctypes.c_void_p(self.start + self.end - len(data))


path_edge, how_edge = Edge(), Edge()


def perform(case):
    """The call itself; a descriptor, or raises.

    A walk that the kernel starts over (a rename elsewhere disturbed it) counts the links of its first try too
    (`total_link_count` in fs/namei.c): a chain of more than twenty can be too many once. A loop is one each time. Below a
    directory that bounds the walk a `..` is EAGAIN then (openat2(2)).
    """
    for _ in range(LOOPS):
        try:
            return perform_once(case)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.EAGAIN):
                raise
            last = error
    raise last


def perform_once(case):
    path = case["path"].encode("latin-1")
    pointer = path_edge.put(path if case.get("unterminated") else path + b"\0")
    base, flags, mode, call = ctypes.c_long(case["base"]), case["flags"], case.get("mode", 0), case["call"]
    if call not in NUMBERS:
        base, call = ctypes.c_long(-100), "openat"
    if call == "openat2":
        how = struct.pack("QQQ", flags, mode if flags & os.O_CREAT else 0, case["resolve"])
        size = case["size"]
        how = how[:size] + (b"\0" if size != 40 else b"\1") * max(0, size - 24)
        words = [base, pointer, how_edge.put(how), ctypes.c_long(size)]
    elif call == "openat":
        words = [base, pointer, ctypes.c_long(flags), ctypes.c_long(mode)]
    elif call == "open":
        words = [pointer, ctypes.c_long(flags), ctypes.c_long(mode)]
    else:
        words = [pointer, ctypes.c_long(mode)]
    result = libc.syscall(ctypes.c_long(NUMBERS[call]), *words)
    if result < 0 and ctypes.get_errno() == errno.EAGAIN and case.get("resolve", 0) & 32:
        return perform_once({**case, "resolve": case["resolve"] & ~32})  # RESOLVE_CACHED: what is cached, differs.
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def name_of(descriptor):
    """The kernel's name, or none where it has none that fits."""
    try:
        return os.readlink(b"/proc/self/fd/%d" % descriptor)
    except OSError:
        return None


def object_of(descriptor, own):
    """What a descriptor is, in words that are the same in both twins. Without `own` it is what a creation gave."""
    status = os.fstat(descriptor)
    if own is None:
        name = name_of(descriptor).removeprefix(os.path.join(here, side.encode()))
        return "%s %s" % (os.fsdecode(name), stat.filemode(status.st_mode))
    identity = (status.st_dev, status.st_ino)
    if identity in own:
        return own[identity]
    kind = stat.filemode(status.st_mode)[0]
    # The list of the run's processes stands for `/proc`.
    if status.st_dev == PROC or (name_of(descriptor) or b"").startswith(b"/dev/shm/stockade-"):
        return "proc:" + kind
    return "%d:%d:%s" % (*identity, kind)


def described(descriptor, own):
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL) & FLAGS
    kept = fcntl.fcntl(descriptor, fcntl.F_GETFD) == 0
    words = [object_of(descriptor, own), "%o" % flags, "kept" if kept else "closed on exec"]
    if flags & os.O_PATH:
        words.append("reopened " + reopened(descriptor, own))
    return " ".join(words)


def reopened(descriptor, own):
    """A pinned object isn't a way to its content."""
    try:
        again = os.open("/proc/self/fd/%d" % descriptor, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        return errno.errorcode[error.errno]
    try:
        return object_of(again, own)
    finally:
        os.close(again)


def is_secret(name):
    words = name.split(b"/")
    last = words[-1]
    return (last.startswith(b".env") or last.endswith((b".pem", b".key")) or b"secrets" in words[:-1]
            or last in (b"credentials", b"credentials.json"))


def is_guarded(name):
    return b"/.git/hooks/" in name or b"/.vscode/" in name


def is_from_the_deepest(case):
    return case["base"] == 60 or "/60" in case["path"]


def expectation(case, descriptor, token):
    """What a confined twin must answer where the bare open succeeds."""
    name = name_of(descriptor)
    if name is None or is_from_the_deepest(case):
        return "nameless"
    if token.startswith("proc:") or token == "deleted":
        return "either"
    if token in ("pipe", "standard input"):
        # Who holds the end that reads needn't be given the one that writes, nor one more through a pinned one.
        return "either" if case["flags"] & (os.O_ACCMODE | os.O_PATH) else "same"
    if not (name + b"/").startswith(here + b"/") or token == "deleted file":
        return "either"
    if name.endswith(b"/secrets"):
        return "either"
    if is_secret(name):
        return "pinned" if case["flags"] & os.O_PATH else "refused"
    writes = case["flags"] & (os.O_ACCMODE | os.O_TRUNC) and not case["flags"] & os.O_PATH
    if writes and is_guarded(name):
        return "refused"
    return "same"


def leaves(base, path):
    """Whether a path that fails leads over something that may be refused: then the refusal may come first."""
    current, words, links = base, path.split(b"/"), 0
    if path.startswith(b"/"):
        current = b""
    while words:
        word = words.pop(0)
        if word in (b"", b"."):
            continue
        if word == b"..":
            current = os.path.dirname(current)
            continue
        current += b"/" + word
        inside = (current + b"/").startswith(here + b"/")
        if not inside and not here.startswith(current + b"/") or is_secret(current) or is_guarded(current):
            return True
        try:
            target = os.readlink(current)
        except OSError:
            continue
        links += 1
        if links > 60:
            return False
        words = target.split(b"/") + words
        current = b"" if target.startswith(b"/") else os.path.dirname(current)
    return False


def answer(case, own, base):
    """Expectation and answer."""
    try:
        descriptor = perform(case)
    except OSError as error:
        word = errno.errorcode.get(error.errno, str(error.errno))
        if side == "held":
            return "", word
        if is_from_the_deepest(case):
            return "nameless", word
        lenient = base is None or leaves(base, case["path"].encode("latin-1"))
        return "either" if lenient else "same", word
    try:
        token = object_of(descriptor, own)
        expected = expectation(case, descriptor, token) if side == "bare" else ""
        return expected, described(descriptor, own)
    finally:
        os.close(descriptor)


def listing(top):
    """What a directory holds, as text."""
    lines = []
    for directory, names, files in sorted(os.walk(top)):
        for name in sorted(names + files):
            status = os.lstat(os.path.join(directory, name))
            size = status.st_size if stat.S_ISREG(status.st_mode) else 0
            lines.append("%s %s %d" % (os.path.join(directory, name)[len(top):], stat.filemode(status.st_mode), size))
    return lines


def create(case):
    """The same for a call that may create: in words about the case's own directory."""
    top = here + b"/%s/%d" % (side.encode(), case["create"])
    text = os.fsdecode(top)
    os.chdir(top)
    opened = os.open(".", os.O_RDONLY)
    os.dup2(opened, 50)
    os.close(opened)
    before = listing(text)
    os.umask(case["umask"])
    expected, word = answer(case, None, top)
    after = listing(text)
    changes = sorted(set(after) ^ set(before))
    os.umask(0o022)
    return expected, "%s; %s" % (word, ", ".join(changes) if changes else "unchanged")


def prepare(group):
    """Opens what the cases start from, at numbers of their own. Returns the objects that only this process has."""
    os.chdir(os.fsencode(here))
    own = {}
    for number, path in group["opened"]:
        path_only = os.O_PATH | os.O_NOFOLLOW if number in (52, 56, 58) else 0
        put(os.open(path.encode("latin-1"), os.O_RDONLY | os.O_NONBLOCK | path_only), number)
    name = here + b"/gone-" + side.encode()
    os.mkdir(name)
    put(os.open(name, os.O_RDONLY), 54)
    if group["gone"]:
        os.chdir(name)
    os.rmdir(name)
    put(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL), 57)
    os.unlink(name)
    reader, writer = os.pipe()
    put(reader, 55)
    os.close(writer)
    for number, word in ((0, "standard input"), (54, "deleted"), (55, "pipe"), (57, "deleted file")):
        status = os.fstat(number)
        own[(status.st_dev, status.st_ino)] = word
    put(os.open("/dev/null", os.O_RDONLY), 60)
    if group["deep"]:
        level = os.dup(50)
        try:
            for _ in range(group["deep"]):
                below = os.open(b"d" * 250, os.O_RDONLY, dir_fd=level)
                os.close(level)
                level = below
            put(level, 60)
        except OSError:
            assert side == "held"  # What has no name that fits may be refused.
            os.close(60)
    if not group["gone"]:
        os.chdir(group["cwd"].encode("latin-1"))
    return own


def put(descriptor, number):
    os.dup2(descriptor, number)
    if descriptor != number:
        os.close(descriptor)


def main():
    for group in json.load(sys.stdin):
        own = prepare(group) if group["cwd"] else None
        bases = {number: path.encode("latin-1") for number, path in group["opened"]}
        bases[-100] = None if group["gone"] else group["cwd"] and group["cwd"].encode("latin-1")
        for case in group["cases"]:
            if "create" in case:
                expected, word = create(case)
            else:
                expected, word = answer(case, own, bases.get(case["base"], here))
            print("%s\t%s" % (expected, word))


main()
