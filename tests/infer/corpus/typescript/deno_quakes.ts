#!/usr/bin/env -S deno run --allow-net=earthquake.usgs.gov
interface Feature {
  properties: { mag: number | null; place: string; time: number };
}

interface Collection {
  metadata: { count: number };
  features: Feature[];
}

const FEED = 'https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/4.5_day.geojson';
const MINIMUM = Number(Deno.args.at(0) ?? 5);

const response: Response = await fetch(FEED);
if (!response.ok) {
  console.error(`the feed answered ${response.status}`);
  Deno.exit(1);
}

const { metadata, features } = (await response.json()) as Collection;
const strong = features
  .filter((f) => (f.properties.mag ?? 0) >= MINIMUM)
  .sort((a, b) => b.properties.mag! - a.properties.mag!);

console.log(`${strong.length} of ${metadata.count} are at least ${MINIMUM}`);
for (const { properties: { mag, place, time } } of strong) {
  console.log(`${mag!.toFixed(1)}  ${new Date(time).toISOString()}  ${place}`);
}
