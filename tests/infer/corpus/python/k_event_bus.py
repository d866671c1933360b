"""A small bus of events: who publishes doesn't know who listens."""
from collections import defaultdict
from pathlib import Path
from typing import Callable

AUDIT = Path("/tmp/stockade-corpus-audit.log")
Handler = Callable[[dict], None]


class Bus:
    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = defaultdict(list)

    def on(self, topic: str) -> Callable[[Handler], Handler]:
        def register(handler: Handler) -> Handler:
            self._handlers[topic].append(handler)
            return handler

        return register

    def publish(self, topic: str, **payload) -> None:
        for handler in (*self._handlers[topic], *self._handlers["*"]):
            handler({"topic": topic, **payload})


bus = Bus()


@bus.on("order.paid")
def thank(event: dict) -> None:
    print(f"thank you for order {event['number']}")


@bus.on("*")
def audit(event: dict) -> None:
    with AUDIT.open("a") as journal:
        journal.write(f"{event['topic']} {event.get('number', '-')}\n")


if __name__ == "__main__":
    bus.publish("order.placed", number=1001)
    bus.publish("order.paid", number=1001)
    print(AUDIT.read_text(), end="")
    AUDIT.unlink()
