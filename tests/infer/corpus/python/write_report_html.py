"""A page with the slowest events."""
import html
import json
from pathlib import Path
from string import Template

HERE = Path.cwd()
OUTPUT = HERE.joinpath("report.html")


def slowest(count: int):
    with open(HERE / "data" / "events.jsonl", encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    return sorted(events, key=lambda e: e["ms"], reverse=True)[:count]


def render(title: str, body: str) -> str:
    page = (HERE / "templates" / "page.html").read_text()
    return page.replace("{{ title }}", html.escape(title)).replace("{{ body }}", body)


item = Template("<li>$event of user $user: $ms ms</li>")
OUTPUT.write_text(render("Slow events", "\n".join(map(item.substitute, slowest(5)))), encoding="utf-8")
print(OUTPUT.stat().st_size > 100)
