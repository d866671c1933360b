"""Calls functions of a module by names that are put together from parts."""
import os
from operator import attrgetter

VERB, NOUN = "list", "dir"
MODULE = vars()["os"]

list_it = getattr(MODULE, VERB + NOUN)
join = attrgetter("path.join")(MODULE)

names = list_it(join(".", ""))
print(sorted(name for name in names if name.endswith(".md")))
