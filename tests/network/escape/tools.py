import array, fcntl, select, threading

TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
FASTOPEN = 0x20000000


def sockaddr(host, port):
    """struct sockaddr_in or sockaddr_in6."""
    if ":" in host:
        return struct.pack("=HHI16sI", socket.AF_INET6, socket.htons(port), 0, socket.inet_pton(socket.AF_INET6, host), 0)
    return struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port), socket.inet_aton(host))


def of(host, kind=TCP):
    """A socket for an address."""
    return socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)


def connect(fd, address, length=None):
    return call(42, getattr(fd, "fileno", lambda: fd)(), address, len(address) if length is None else length)


def finished(one, seconds=5):
    """A connection in the background is there, or why not."""
    expect(select.select([], [one], [], seconds)[1])
    number = one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if number:
        raise OSError(number, "")


def begun(one, address):
    """Connects in the background."""
    one.setblocking(False)
    try:
        one.connect(address)
    except BlockingIOError:
        finished(one)


def echoes(one):
    one.settimeout(20)
    one.sendall(b"ping")
    expect(one.recv(4) == b"ping")


def message(host, port, data=b"x"):
    """A struct msghdr with an address (host None: without), and what it points to."""
    address = ctypes.create_string_buffer(sockaddr(host, port) if host else b"", 28)
    text = ctypes.create_string_buffer(data, len(data))
    vector = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(text), len(data)))
    length = (28 if ":" in host else 16) if host else 0
    header = struct.pack("QI4xQQQQi4x", ctypes.addressof(address) if host else 0, length,
                         ctypes.addressof(vector), 1, 0, 0, 0)
    return ctypes.create_string_buffer(header + bytes(8), 64), (address, text, vector)


def sendmsg(one, host, port, flags=0):
    header, kept = message(host, port)
    return call(46, one.fileno(), header, flags)


def sendmmsg(one, host, port, flags=0):
    header, kept = message(host, port)
    return call(307, one.fileno(), header, 1, flags)


def attribute(name, *more):
    return getattr(socket, name, *more)
