"""Where programs are found: a small `which`."""
import os
import sys

WANTED = ["sh", "python3", "sort"]


def find(program):
    for directory in os.environ["PATH"].split(os.pathsep):
        candidate = os.path.join(directory, program)
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def main():
    places = {program: find(program) for program in WANTED}
    for program, place in places.items():
        print(f"{program}: {'found' if place else 'missing'}")
    sys.exit(0 if all(places.values()) else 1)


main()
