"""How many variables there are, and which of them look like secrets (names only)."""
from os import environ
import re

SECRET = re.compile(r"(TOKEN|KEY|SECRET|PASSWORD)$", re.I)


def main():
    suspicious = sorted(name for name in environ if SECRET.search(name))
    print("variables:", len(environ) > 0)
    print("suspicious:", ", ".join(suspicious) or "none")


if __name__ == "__main__":
    main()
