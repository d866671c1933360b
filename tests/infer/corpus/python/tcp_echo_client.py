"""Says hello to the echo server of the tests, and gives up politely where there is none."""
import socket
from contextlib import closing

SERVER = ("127.0.0.1", 8123)


def talk(message: bytes) -> bytes:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as s:
        s.settimeout(10)
        s.connect(SERVER)
        s.sendall(message)
        return s.recv(1024)


try:
    print(talk(b"hello\n").decode())
except ConnectionRefusedError:
    print("no server")
