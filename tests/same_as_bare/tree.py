"""Prints what is below a directory, one line an entry: name, type, mode, owner, size and content, links, attributes.

argv: the directory, the time of the run's start, the names that may differ in content (globs, JSON), the names that
aren't looked at (globs, JSON). Times are printed where somebody set them: where they are an hour older than the run.
"""
import fnmatch, hashlib, json, os, stat, sys

top, start = os.fsencode(sys.argv[1]), float(sys.argv[2])
loose, ignored = json.loads(sys.argv[3]), json.loads(sys.argv[4])
KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link", stat.S_IFIFO: "fifo",
         stat.S_IFSOCK: "socket", stat.S_IFCHR: "character device", stat.S_IFBLK: "block device"}
first_names = {}


def matches(name, globs):
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def attributes(path):
    return ["%s=%r" % (name, os.getxattr(path, name, follow_symlinks=False))
            for name in sorted(os.listxattr(path, follow_symlinks=False))]


def line(path, name):
    status = os.lstat(path)
    kind = KINDS[stat.S_IFMT(status.st_mode)]
    words = [name, kind, "%04o" % stat.S_IMODE(status.st_mode), "%d:%d" % (status.st_uid, status.st_gid)]
    if kind == "file" and not matches(name, loose) and status.st_mode & stat.S_IRUSR:
        with open(path, "rb") as file:
            content = file.read()
        content = content.replace(top, b"HERE")
        words += ["%d bytes" % len(content), hashlib.sha256(content).hexdigest()[:16]]
        if len(content) < 80:
            words.append(repr(content))
    if kind == "link":
        words.append("-> " + repr(os.readlink(path).replace(top, b"HERE")))
    if status.st_nlink > 1 and kind != "directory":
        first = first_names.setdefault(status.st_ino, name)
        words.append("%d names, the first is %s" % (status.st_nlink, first))
    if status.st_mtime < start - 3600 or status.st_mtime > start + 3600:
        words.append("changed at %d" % status.st_mtime_ns)
    return " ".join(words + attributes(path))


def walk(directory, prefix):
    for entry in sorted(os.listdir(directory)):
        path, name = os.path.join(directory, entry), prefix + repr(entry)[2:-1]
        if matches(name, ignored):
            continue
        print(line(path, name))
        if stat.S_ISDIR(os.lstat(path).st_mode):
            walk(path, name + "/")


walk(top, "")
