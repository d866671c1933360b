"""A summary of the repository for the stand-up meeting."""
import subprocess
import sys


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def main() -> int:
    try:
        status = git("status", "--porcelain")
        last = git("log", "-1", "--format=%s")
    except subprocess.CalledProcessError as error:
        print(error.stderr.splitlines()[0] if error.stderr else error, file=sys.stderr)
        return 1
    print(f"last: {last.strip()}; {len(status.splitlines())} changed files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
