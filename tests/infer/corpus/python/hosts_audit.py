"""Names that /etc/hosts maps to this machine, and the shells that users may have."""
import ipaddress
from itertools import chain

SYSTEM_FILES = {"hosts": "/etc/hosts", "shells": "/etc/shells"}


def useful_lines(kind: str):
    with open(SYSTEM_FILES[kind]) as handle:
        for line in handle:
            line = line.partition("#")[0].strip()
            if line:
                yield line


def local_names():
    for address, *names in map(str.split, useful_lines("hosts")):
        if ipaddress.ip_address(address).is_loopback:
            yield names


print(len(set(chain.from_iterable(local_names()))) > 0)
print(any(shell.endswith("/sh") for shell in useful_lines("shells")))
