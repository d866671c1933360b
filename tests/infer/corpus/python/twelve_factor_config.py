"""Configuration from variables, with defaults, as a dataclass."""
import dataclasses
import os


def env(name: str, default: str) -> str:
    return os.getenv(f"APP_{name}", default)


@dataclasses.dataclass(frozen=True)
class Config:
    name: str = dataclasses.field(default_factory=lambda: env("NAME", "ledgerline"))
    port: int = dataclasses.field(default_factory=lambda: int(env("PORT", "8123")))
    debug: bool = dataclasses.field(default_factory=lambda: env("DEBUG", "no") in {"1", "yes", "true"})


print(dataclasses.asdict(Config()))
