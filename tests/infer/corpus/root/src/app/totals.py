"""Totals of orders."""


def line_total(quantity: int, price: float) -> float:
    """The price of a line."""
    return round(quantity * price, 2)


# TODO: taxes
def order_total(lines):
    return sum(line_total(line["qty"], line["price"]) for line in lines)
