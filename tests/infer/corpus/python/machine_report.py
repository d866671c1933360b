"""Load, memory and uptime of this machine, for a status line."""
from pathlib import Path

PROC = Path("/proc")


def memory() -> float:
    """The share of memory that is in use."""
    fields = dict(line.split(":", 1) for line in (PROC / "meminfo").read_text().splitlines())
    total, free = (int(fields[key].split()[0]) for key in ("MemTotal", "MemAvailable"))
    return 1 - free / total


def main() -> None:
    load = (PROC / "loadavg").read_text().split()[0]
    uptime = float((PROC / "uptime").read_text().split()[0])
    print(f"load {load}, memory {memory():.0%}, up {uptime / 3600:.1f} h")


if __name__ == "__main__":
    main()
