"""When a meeting is, in the zones of those who take part."""
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

PEOPLE = {"Ada": "Europe/Lisbon", "Esi": "Africa/Accra", "Greta": "Europe/Vienna", "Sam": "America/Denver"}


def local_times(moment: datetime) -> list[str]:
    lines = []
    for person, zone in sorted(PEOPLE.items()):
        there = moment.astimezone(ZoneInfo(zone))
        note = "" if 8 <= there.hour < 18 else "  (outside of working hours)"
        lines.append(f"{person:<8}{there:%Y-%m-%d %H:%M}{note}")
    return lines


if __name__ == "__main__":
    print("\n".join(local_times(datetime(2024, 5, 14, 15, 30, tzinfo=timezone.utc))))
