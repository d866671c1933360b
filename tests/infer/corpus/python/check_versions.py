"""Do the configuration, the package and the changelog name the same version?"""
import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def of_config() -> str:
    with open(ROOT / "config" / "app.toml", "rb") as handle:
        return tomllib.load(handle)["version"]


def of_package() -> str:
    return json.loads((ROOT / "package.json").read_text())["version"]


def of_changelog() -> str:
    match = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    if match is None:
        raise SystemExit("the changelog has no version")
    return match[1]


CHECKS = {"config": of_config, "package": of_package, "changelog": of_changelog}

versions = {name: check() for name, check in CHECKS.items()}
if len(set(versions.values())) != 1:
    raise SystemExit(f"versions differ: {versions}")
print(f"all name {versions['config']}")
