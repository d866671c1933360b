"""Walks through all pages of the catalogue API."""
import asyncio
import sys
from collections.abc import AsyncIterator

from aiohttp import ClientError, ClientSession, ClientTimeout

HOST = "api.example.com"
PATH = "items"


async def pages(session: ClientSession) -> AsyncIterator[list[dict]]:
    page = 1
    while True:
        async with session.get(f"https://{HOST}/v1/{PATH}", params={"page": page}) as reply:
            reply.raise_for_status()
            items = (await reply.json())["items"]
        if not items:
            return
        yield items
        page += 1


async def main() -> int:
    try:
        async with ClientSession(timeout=ClientTimeout(total=2)) as session:
            async for items in pages(session):
                for item in items:
                    print(item["name"])
    except (ClientError, asyncio.TimeoutError):
        print("the catalogue can't be reached", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
