"""Shows the addresses that the posts of the new site will have.

Nothing is written: the importer takes this output.
"""
from datetime import datetime, timedelta

import humanize
from slugify import slugify

POSTS = [
    ("Ten years of Ledgerline", datetime(2014, 5, 1), 18_204),
    ("Why we don't open() files twice", datetime(2019, 11, 12), 7_310),
    ("Reading /etc/passwd: a love story", datetime(2022, 2, 2), 1_220_400),
]


def describe(title: str, published: datetime, size: int) -> str:
    age = humanize.naturaldelta(datetime(2024, 6, 1) - published)
    return f"/blog/{published:%Y}/{slugify(title, max_length=40):<42}{humanize.naturalsize(size):>10}  {age}"


def unique(slugs: list[str]) -> bool:
    return len(set(slugs)) == len(slugs)


if __name__ == "__main__":
    for post in POSTS:
        print(describe(*post))
    if not unique([slugify(title) for title, _, _ in POSTS]):
        raise SystemExit("two posts share an address")
    print("window:", humanize.precisedelta(timedelta(days=3653)))
