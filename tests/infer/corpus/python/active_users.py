"""Lists the active users, and how many have each tag."""
import json
from collections import Counter
from pathlib import Path

DATA = Path("data")


def main() -> None:
    users = json.loads((DATA / "users.json").read_text(encoding="utf-8"))
    active = [user for user in users if user["active"]]
    tags = Counter(tag for user in active for tag in user["tags"])
    for user in sorted(active, key=lambda u: u["name"]):
        print(f"{user['id']:>3}  {user['name']}")
    print(", ".join(f"{tag}: {n}" for tag, n in tags.most_common()))


if __name__ == "__main__":
    main()
