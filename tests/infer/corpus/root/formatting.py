"""How amounts are shown in reports."""
from decimal import Decimal


def money(amount: Decimal) -> str:
    return f"{amount:,.2f}"


def percent(share: Decimal) -> str:
    return f"{share * 100:.1f} %"


def align_right(text: str, width: int) -> str:
    return text.rjust(width)
