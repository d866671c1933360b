#!/usr/bin/env python3
"""Health check: health_by_stage.py [dev|staging|production]"""
import argparse
import json
import sys
import urllib.request
from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    host: str
    scheme: str = "https"

    def url(self, path: str) -> str:
        return f"{self.scheme}://{self.host}{path}"


STAGES = {
    "dev": Stage("localhost:8123", scheme="http"),
    "staging": Stage("staging.example.com"),
    "production": Stage("www.example.com"),
}


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", nargs="?", choices=sorted(STAGES), default="dev")
    options = parser.parse_args(argv)
    target = STAGES[options.stage].url("/healthz")
    try:
        with urllib.request.urlopen(target, timeout=1) as response:
            state = json.load(response)
    except (OSError, ValueError) as error:
        print(f"{options.stage}: down ({error})")
        return 1
    print(f"{options.stage}: {state.get('status', 'unknown')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
