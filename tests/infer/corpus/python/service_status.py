"""Asks each service whether it is well."""
import http.client
import sys
from urllib.parse import urlsplit

SERVICES = {
    "status page": "https://status.example.com/",
    "public api": "https://api.example.com/v2/health",
    "local": "http://localhost:8123/health",
}


def is_well(url: str) -> bool:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=1)
    try:
        connection.request("HEAD", parts.path or "/")
        return connection.getresponse().status < 400
    except OSError:
        return False
    finally:
        connection.close()


def main() -> int:
    states = {name: is_well(url) for name, url in SERVICES.items()}
    for name, well in states.items():
        print(f"{name:<12}{'up' if well else 'DOWN'}")
    return 0 if all(states.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
