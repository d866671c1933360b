"""Which languages lack which messages. Exit code 1 where any does."""
import json
import sys

LANGUAGES = ("en", "de", "fr")
REFERENCE = LANGUAGES[0]


def catalogue(language, folder="./data/i18n"):
    with open(f"{folder}/{language}.json", "rt", encoding="utf-8") as fh:
        return json.load(fh)


def missing():
    wanted = catalogue(REFERENCE).keys()
    for language in LANGUAGES[1:]:
        yield from ((language, key) for key in sorted(wanted - catalogue(language).keys()))


gaps = list(missing())
for language, key in gaps:
    print(f"{language}: no text for {key!r}", file=sys.stderr)
sys.exit(bool(gaps))
