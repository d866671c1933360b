"""Shows a few response headers, by means of curl."""
import shlex
import subprocess
import sys

COMMAND = "curl --silent --show-error --head --max-time 2 https://example.org/"


def main() -> int:
    done = subprocess.run(shlex.split(COMMAND), text=True, stdout=subprocess.PIPE)
    for line in done.stdout.splitlines():
        name, _, value = line.partition(":")
        if name.lower() in {"content-type", "etag", "last-modified"}:
            print(f"{name}:{value}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
