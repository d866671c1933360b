"""What probes are made of. Each attempt runs in a process of its own and is answered in a word."""
import ctypes, errno, mmap, os, resource, signal, socket, struct, subprocess, sys, time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
AT_FDCWD = -100


def answer(result):
    """The result of a libc call; raises where it failed."""
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    return result


def call(number, *arguments):
    """A raw system call. Strings become pointers, integers whole registers."""
    words = [ctypes.c_char_p(os.fsencode(word)) if isinstance(word, (str, bytes))
             else ctypes.c_long(word) if isinstance(word, int) else word
             for word in arguments]
    ctypes.set_errno(0)
    return answer(libc.syscall(ctypes.c_long(number), *words))


def read(path):
    with open(path, "rb") as file:
        file.read(16)


def write(path, mode="wb"):
    with open(path, mode) as file:
        file.write(b"x")


def machine_code(code):
    """Executes bytes; answers what they leave in the accumulator."""
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_int)(start)()


def fresh(directory):
    """A path in a directory at which nothing is."""
    return "%s/new-%s" % (directory, os.urandom(6).hex())


def wait_for(path, seconds=20):
    """Until a path exists."""
    end = time.monotonic() + seconds
    while not os.path.lexists(path):
        expect(time.monotonic() < end)
        time.sleep(0.01)


def wait_in_call(task, call=257, seconds=20):
    """Until a process, or a thread as "self/task/N", waits in a system call: in openat unless another is named."""
    end = time.monotonic() + seconds
    while True:
        with open("/proc/%s/syscall" % task) as file:
            if file.read().startswith("%d " % call):
                return
        expect(time.monotonic() < end)
        time.sleep(0.005)


def openat2(path, flags=0, resolve=0, dirfd=AT_FDCWD, mode=0):
    return call(437, dirfd, path, struct.pack("QQQ", flags, mode, resolve), 24)


def renameat2(old, new, flags):
    """1 is RENAME_NOREPLACE, 2 RENAME_EXCHANGE, 4 RENAME_WHITEOUT."""
    return call(316, AT_FDCWD, old, AT_FDCWD, new, flags)


def ready():
    """A process beside the run says that the run may begin."""
    print("ready", flush=True)


def expect(truth):
    """Fails the attempt where something that must be true isn't."""
    if not truth:
        raise OSError(errno.EBADMSG, "")


def attempt(label, code):
    """Prints "label: ok", "label: EPERM" or "label: SIGSYS"."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        word = "ok"
        try:
            exec(code, globals())
        except OSError as error:
            word = errno.errorcode.get(error.errno, str(error))
        except BaseException as error:
            word = "%s(%s)" % (type(error).__name__, error)
        os.write(writer, word.encode())
        os._exit(0)
    os.close(writer)
    word = b""
    while piece := os.read(reader, 4096):
        word += piece
    os.close(reader)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        word = signal.Signals(os.WTERMSIG(status)).name.encode()
    elif not word and status == 0:
        word = b"ok"  # it became another program, which ended well
    print("%s: %s" % (label, word.decode().replace("\n", " ")), flush=True)
