"""Share of server errors in the web server's logs, hour by hour."""
import glob
import os.path
import re
from collections import Counter
from typing import Iterator

LOG_DIRECTORY = os.path.join("data", "logs")
PATTERN = "access-*.log"
LINE = re.compile(r'^(\S+) \S+ \S+ \[\d+/\w+/\d+:(?P<hour>\d\d)[^\]]*\] "[^"]*" (?P<status>\d{3}) ')


class LogReader:
    """Reads all logs of a directory in the order of their names."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def __iter__(self) -> Iterator[tuple[str, int]]:
        for name in sorted(glob.glob(os.path.join(self.directory, PATTERN))):
            with open(name, encoding="ascii") as log:
                yield from self._parse(log)

    @staticmethod
    def _parse(lines):
        for line in lines:
            if match := LINE.match(line):
                yield match["hour"], int(match["status"])


def main() -> None:
    seen, failed = Counter(), Counter()
    for hour, status in LogReader(LOG_DIRECTORY):
        seen[hour] += 1
        failed[hour] += status >= 500
    for hour in sorted(seen):
        share = failed[hour] / seen[hour]
        print(f"{hour}:00 {'#' * round(share * 20):<20} {share:5.1%}")


if __name__ == "__main__":
    main()
