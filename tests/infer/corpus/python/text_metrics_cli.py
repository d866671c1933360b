"""Readability metrics of a text on standard input.

    text_metrics_cli.py [--json] < essay.txt
"""
import argparse
import json
import re
import sys


def syllables(word: str) -> int:
    return max(1, len(re.findall(r"[aeiouy]+", word.lower())))


def metrics(text: str) -> dict[str, float]:
    words = re.findall(r"[A-Za-z']+", text)
    sentences = max(1, len(re.findall(r"[.!?]+", text)))
    count = max(1, len(words))
    score = 206.835 - 1.015 * (count / sentences) - 84.6 * (sum(map(syllables, words)) / count)
    return {"words": len(words), "sentences": sentences, "flesch": round(score, 1)}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    text = sys.stdin.read()
    if not text.strip():
        print("nothing to measure", file=sys.stderr)
        return 2
    result = metrics(text)
    print(json.dumps(result) if options.json else result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
