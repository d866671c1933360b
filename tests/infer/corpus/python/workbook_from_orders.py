"""Writes the orders into a workbook that the accountants can open."""
import json
from pathlib import Path

from openpyxl import Workbook
from openpyxl.styles import Font

OUT = "/tmp/stockade-corpus-orders.xlsx"


def rows():
    for path in sorted(Path("data/orders").glob("order-*.json")):
        order = json.loads(path.read_text())
        for line in order["lines"]:
            yield order["order"], line["sku"], line["qty"], line["price"]


book = Workbook()
sheet = book.active
sheet.title = "Orders"
sheet.append(["order", "sku", "quantity", "price"])
for cell in sheet[1]:
    cell.font = Font(bold=True)
for row in rows():
    sheet.append(row)
book.save(OUT)
print(OUT)
