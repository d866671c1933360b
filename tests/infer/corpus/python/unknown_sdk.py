"""Pulls the contracts that end this quarter out of the archive of the company."""
from datetime import date

from acme_archive import Archive, Filter


def quarter_end(day: date) -> date:
    month = 3 * ((day.month - 1) // 3 + 1)
    return date(day.year + month // 12, month % 12 + 1, 1)


def main() -> None:
    archive = Archive.connect()
    wanted = Filter(kind="contract", ends_before=quarter_end(date.today()))
    for contract in archive.search(wanted):
        print(contract.number, contract.partner, contract.ends)


if __name__ == "__main__":
    main()
