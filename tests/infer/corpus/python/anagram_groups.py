"""Groups of anagrams and palindromes in the word list."""
import base64
import fileinput
from collections import defaultdict

# "data/words.txt", written so by an exporter that encodes all of its strings
WORDS = base64.b64decode("ZGF0YS93b3Jkcy50eHQ=").decode("ascii")


def groups(words):
    found = defaultdict(list)
    for word in words:
        found["".join(sorted(word))].append(word)
    return [group for group in found.values() if len(group) > 1]


with fileinput.input(files=[WORDS], encoding="utf-8") as lines:
    all_words = [line.strip() for line in lines]

for group in groups(all_words):
    print(" = ".join(group))
print("palindromes:", *(w for w in all_words if w == w[::-1]))
