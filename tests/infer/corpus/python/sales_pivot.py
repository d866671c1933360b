"""A pivot table of the sales by region and product."""
import numpy as np
import pandas as pd


def load(path: str = "./data/sales.csv") -> pd.DataFrame:
    frame = pd.read_csv(path, parse_dates=["date"])
    return frame.assign(amount=frame["quantity"] * frame["unit_price"])


def main() -> None:
    table = load().pivot_table(index="region", columns="product", values="amount", aggfunc="sum", fill_value=0)
    table["all"] = table.sum(axis=1)
    print(table.round(2).to_string())
    print("median sale:", np.round(np.median(load()["amount"]), 2))


if __name__ == "__main__":
    main()
