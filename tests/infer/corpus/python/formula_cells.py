"""Evaluates the formulas of a sheet. The formulas are Python expressions, as in the old tool."""
import json
import math

SHEET = {"A1": "limits['high'] - limits['low']", "A2": "round(threshold * 9 / 5 + 32, 1)", "A3": "len(sensors)"}


class Cells(dict):
    def __init__(self, values):
        super().__init__(values)
        self.names = {**vars(math), "round": round, "len": len}

    def evaluate(self, formula: str):
        return eval(formula, {"__builtins__": {}}, {**self.names, **self})


with open("data/settings.json") as handle:
    cells = Cells(json.load(handle))

with open("data/settings.json") as handle:
    extra = json.load(handle).get("formulas", {})  # a sheet may bring its own

for name, formula in {**SHEET, **extra}.items():
    print(name, "=", cells.evaluate(formula))
