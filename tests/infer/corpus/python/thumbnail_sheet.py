"""Makes a thumbnail of each picture in assets/."""
from pathlib import Path

from PIL import Image, ImageOps

SIZE = (128, 128)
ASSETS = Path("assets")


def thumbnail(source: Path, folder: Path) -> Path:
    target = folder / f"{source.stem}.png"
    with Image.open(source) as picture:
        ImageOps.fit(picture.convert("RGB"), SIZE).save(target)
    return target


def main() -> None:
    folder = ASSETS / "thumbnails"
    folder.mkdir(exist_ok=True)
    for source in sorted(ASSETS.glob("*.ppm")):
        print(thumbnail(source, folder))


if __name__ == "__main__":
    main()
