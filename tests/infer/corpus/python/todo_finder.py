"""Lists the TODO remarks of sources and documents."""
import os
import re
import sys

TODO = re.compile(r"\b(TODO|FIXME)\b:?\s*(.*)")
FOLDERS = ["src", "docs"]
SUFFIXES = (".py", ".js", ".mjs", ".md")


def sources():
    for folder in FOLDERS:
        for current, directories, names in os.walk(folder):
            directories[:] = sorted(d for d in directories if d != "node_modules")
            for name in sorted(names):
                if name.endswith(SUFFIXES):
                    yield os.path.join(current, name)


def main():
    count = 0
    for path in sources():
        with open(path, encoding="utf-8", errors="replace") as source:
            for number, line in enumerate(source, 1):
                match = TODO.search(line)
                if match:
                    count += 1
                    print(f"{path}:{number}: {match.group(2) or '(no text)'}")
    print(f"{count} remarks", file=sys.stderr)


if __name__ == "__main__":
    main()
