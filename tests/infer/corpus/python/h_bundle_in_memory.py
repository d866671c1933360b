"""Packs a few generated files into a zip archive and checks it, all in memory.

The archive would be uploaded by the caller; nothing is put on the disk here.
"""
import io
import zipfile
from datetime import date
from pathlib import PurePosixPath

PARTS = {
    "manifest.json": '{"name": "ledgerline"}',
    "notes/today.txt": "No news.",
    "notes/archive/old.txt": "Old news.",
}


def build(prefix):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in PARTS.items():
            archive.writestr(str(PurePosixPath(prefix) / name), text)
    return buffer.getvalue()


def verify(blob):
    with zipfile.ZipFile(io.BytesIO(blob)) as archive:
        for entry in archive.infolist():
            with archive.open(entry.filename) as member:
                yield entry.filename, len(member.read())


prefix = f"bundle-{date.today():%Y%m%d}"
for filename, size in verify(build(prefix)):
    print(f"{filename}: {size}")
