"""Starts the service."""
import logging

from app.totals import order_total

log = logging.getLogger(__name__)


def main() -> None:
    log.info("total %s", order_total([]))


if __name__ == "__main__":
    main()
