"""Stock levels, sorted by the machine's `sort` as the accountants expect it."""
import configparser
import subprocess as sp


def stock() -> dict[str, int]:
    parser = configparser.ConfigParser()
    if not parser.read("./data/inventory.ini"):
        raise SystemExit("no inventory")
    return {name: parser.getint("stock", name) for name in parser.options("stock")}


def sort_numerically(text: str) -> str:
    sorter = sp.Popen(["sort", "-k2,2n"], stdin=sp.PIPE, stdout=sp.PIPE, text=True)
    out, _ = sorter.communicate(text)
    return out


if __name__ == "__main__":
    print(sort_numerically("".join(f"{k}\t{v}\n" for k, v in stock().items())), end="")
