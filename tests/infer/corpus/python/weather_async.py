"""Weather of several cities, asked all at once."""
import asyncio

import httpx

CITIES = {"Lisbon": (38.72, -9.14), "Oslo": (59.91, 10.75), "Accra": (5.6, -0.19)}
BASE = "https://api.open-meteo.com/v1"


async def weather(client: httpx.AsyncClient, city: str) -> str:
    latitude, longitude = CITIES[city]
    try:
        answer = await client.get(
            "/forecast", params={"latitude": latitude, "longitude": longitude, "current_weather": True}
        )
        answer.raise_for_status()
    except httpx.HTTPError as error:
        return f"{city}: {type(error).__name__}"
    return f"{city}: {answer.json()['current_weather']['temperature']} °C"


async def main() -> None:
    async with httpx.AsyncClient(base_url=BASE, timeout=2.0) as client:
        for line in await asyncio.gather(*(weather(client, city) for city in CITIES)):
            print(line)


asyncio.run(main())
