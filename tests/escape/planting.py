"""Tries to put a text at a closed place, by every name above it. argv: HOME, "free" or "held", scratch, places.

A place that begins with `+` is tried in all ways, the others in four."""
import ctypes, os, shutil, sys, tempfile

HOME, MODE, SCRATCH = sys.argv[1:4]
made = None
try:
    # Of its own, since it is /tmp in some profiles. Others have none.
    SCRATCH = made = tempfile.mkdtemp(dir=SCRATCH)
except OSError:
    pass
PLACES = sys.argv[4:]
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, EXCHANGE, NOREPLACE = -100, 2, 1


def answer(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), "")


def renameat2(old, new, flags, old_at=AT_FDCWD, new_at=AT_FDCWD):
    answer(libc.syscall(316, old_at, os.fsencode(old), new_at, os.fsencode(new), flags))


def remove(path):
    if os.path.islink(path) or os.path.isfile(path):
        os.unlink(path)
    elif os.path.isdir(path):
        shutil.rmtree(path)


def filled(at, rest):
    """A directory with the text at `rest`, or the file itself."""
    remove(at)
    path = at if rest == "." else at + "/" + rest
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("EVIL")
    return at


def link_to(at, target):
    remove(at)
    os.symlink(target, at)
    return at


def out_of_the_way(above):
    """All that may go goes, and then the name itself."""
    if os.path.islink(above):
        os.unlink(above)
    elif os.path.isdir(above):
        for entry in os.listdir(above):
            os.rename(above + "/" + entry, HOME + "/aside-" + entry)
        os.rmdir(above)


def put_aside(above):
    if os.path.lexists(above):
        os.rename(above, HOME + "/aside")


def exchanged(source, above):
    if not os.path.lexists(above):
        os.mkdir(above)
    renameat2(source, above, EXCHANGE)


def exchanged_back(source, above):
    if not os.path.lexists(above):
        os.mkdir(above)
    renameat2(above, source, EXCHANGE)


def by_descriptors(source, above):
    old, new = (os.open(os.path.dirname(path), os.O_PATH) for path in (source, above))
    renameat2(os.path.basename(source), os.path.basename(above), 0, old, new)


def from_inside(source, above):
    os.chdir(os.path.dirname(above))
    os.rename(source, os.path.basename(above))


def linked(source, above):
    answer(libc.linkat(AT_FDCWD, os.fsencode(source), AT_FDCWD, os.fsencode(above), 0))


def moved_in_parts(source, above):
    """The directory is made there, and what is in the other one is moved into it."""
    os.makedirs(above, exist_ok=True)
    for entry in os.listdir(source):
        remove(above + "/" + entry)
        os.rename(source + "/" + entry, above + "/" + entry)


def file_by_file(source, above):
    if os.path.isfile(source):
        return shutil.copyfile(source, above)
    shutil.copytree(source, above, dirs_exist_ok=True, copy_function=shutil.copyfile)


# How room is made, whether a link or the directory itself arrives, and how.
WAYS = {
    "renamed onto an empty name": (out_of_the_way, False, os.rename),
    "renamed after the other was renamed": (put_aside, False, os.rename),
    "renamed over": (None, False, os.rename),
    "renamed without replacing": (out_of_the_way, False, lambda old, new: renameat2(old, new, NOREPLACE)),
    "exchanged": (None, False, exchanged),
    "exchanged, the other way round": (None, False, exchanged_back),
    "renamed by descriptors": (out_of_the_way, False, by_descriptors),
    "renamed from inside": (out_of_the_way, False, from_inside),
    "linked symbolically": (out_of_the_way, True, lambda old, new: os.symlink(os.readlink(old), new)),
    "linked after the other was renamed": (put_aside, True, lambda old, new: os.symlink(os.readlink(old), new)),
    "a link renamed": (out_of_the_way, True, os.rename),
    "a link renamed over": (None, True, os.rename),
    "a link exchanged": (None, True, exchanged),
    "a link linked": (out_of_the_way, True, linked),
    "moved in parts": (None, False, moved_in_parts),
    "copied": (None, False, file_by_file),
}


def attempt(way, source, place, above):
    make_room, by_link, arrive = WAYS[way]
    rest = os.path.relpath(HOME + "/" + place, above)
    evil = filled(source + "/evil", rest)
    if make_room:
        make_room(above)
    arrive(link_to(source + "/link", evil) if by_link else evil, above)


def above_all(place):
    names = place.split("/")
    for count in range(1, len(names) + 1):
        yield HOME + "/" + "/".join(names[:count])


def reset():
    """The home as it was, where nothing keeps us from that."""
    if MODE == "free":
        shutil.rmtree(HOME)
        shutil.copytree(HOME + ".was", HOME, symlinks=True)
    for name in os.listdir(HOME):
        if name.startswith("aside-"):
            shutil.rmtree(HOME + "/" + name, ignore_errors=True)


FEW = ["renamed onto an empty name", "exchanged", "linked symbolically", "a link renamed"]

for place in PLACES:
    ways, sources = (WAYS, (HOME, SCRATCH)) if place.startswith("+") else (FEW, (HOME,))
    place = place.lstrip("+")
    for above in above_all(place):
        for source in sources:
            for way in ways:
                word = "done"
                child = os.fork()
                if child == 0:
                    try:
                        attempt(way, source, place, above)
                        os._exit(0)
                    except (OSError, shutil.Error):
                        os._exit(1)
                if os.waitpid(child, 0)[1] != 0:
                    word = "failed"
                try:
                    with open(HOME + "/" + place) as file:
                        word = "planted" if file.read() == "EVIL" else word
                except OSError:
                    pass
                print(f"{word}\t{way}\t{place}\t{os.path.relpath(above, HOME)}\t{'home' if source == HOME else 'scratch'}")
                reset()
if made:
    shutil.rmtree(made, ignore_errors=True)
