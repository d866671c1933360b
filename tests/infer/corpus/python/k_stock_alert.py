"""Tells the team when the stock of an article runs low."""
import configparser
import logging

from notifications import send_alert

WEBHOOK = "https://hooks.example.com/stock"
MINIMUM = 10

log = logging.getLogger("stock")


def low_items(path="data/inventory.ini"):
    parser = configparser.ConfigParser()
    parser.read(path)
    for name, amount in parser["stock"].items():
        if int(amount) < MINIMUM:
            yield name, int(amount)


def main():
    logging.basicConfig(level=logging.INFO)
    items = list(low_items())
    if not items:
        log.info("all shelves are full")
        return
    lines = [f"{name}: {amount} left" for name, amount in items]
    send_alert(WEBHOOK, title="Low stock", body="\n".join(lines))
    log.info("told the team of %d articles", len(items))


if __name__ == "__main__":
    main()
