#!/usr/bin/env node
// Shows an instant in the time zones of a team. The local zone comes from TZ.

const { parseArgs } = require('node:util');

const TEAM = {
  Accra: 'Africa/Accra',
  Lisbon: 'Europe/Lisbon',
  Oslo: 'Europe/Oslo',
  Kolkata: 'Asia/Kolkata',
};

const { values } = parseArgs({
  options: {
    at: { type: 'string', short: 'a', default: '2024-06-03T14:00:00Z' },
    duration: { type: 'string', short: 'd', default: '45' },
  },
});

const start = new Date(values.at);
if (Number.isNaN(start.getTime())) {
  console.error(`not a time: ${values.at}`);
  process.exit(2);
}
const end = new Date(start.getTime() + Number(values.duration) * 60_000);

function at(instant, timeZone) {
  return new Intl.DateTimeFormat(process.env.LANG?.startsWith('de') ? 'de-DE' : 'en-GB', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  }).format(instant);
}

const local = process.env.TZ || 'UTC';
console.log(`local (${local}): ${at(start, local)} to ${at(end, local)}`);
for (const [city, zone] of Object.entries(TEAM)) {
  const hour = Number(new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: 'numeric' }).format(start));
  const note = hour < 8 || hour > 18 ? '  (outside office hours)' : '';
  console.log(`${city.padEnd(8)} ${at(start, zone)}${note}`);
}
