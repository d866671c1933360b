"""What several scripts of the project need."""
import tomllib
from pathlib import Path

CONFIG = Path(__file__).parent / "config" / "app.toml"


def load_config() -> dict:
    with CONFIG.open("rb") as file:
        return tomllib.load(file)


def money(amount: float) -> str:
    return f"{amount:,.2f}"
