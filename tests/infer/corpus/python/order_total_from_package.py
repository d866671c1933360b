"""Uses the project's own package to recompute an order."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "src"))

from app import VERSION  # noqa: E402
from app.totals import order_total as total  # noqa: E402


def main() -> None:
    with open("data/orders/order-1001.json", encoding="utf-8") as handle:
        order = json.load(handle)
    print(f"ledgerline {VERSION}: order {order['order']} is {total(order['lines']):.2f}")


if __name__ == "__main__":
    main()
