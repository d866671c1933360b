// Dates of the releases of the year: every sixth Tuesday, moved off holidays.
import dayjs from 'dayjs';
import isBetween from 'dayjs/plugin/isBetween.js';
import weekday from 'dayjs/plugin/weekday.js';

dayjs.extend(isBetween);
dayjs.extend(weekday);

const FREEZES = [
  ['2024-07-22', '2024-08-09', 'summer'],
  ['2024-12-16', '2024-12-31', 'end of the year'],
];

function* everySixWeeks(first, end) {
  for (let day = dayjs(first); day.isBefore(end); day = day.add(6, 'week')) yield day;
}

function outOfFreeze(day) {
  const freeze = FREEZES.find(([from, to]) => day.isBetween(from, to, 'day', '[]'));
  if (!freeze) return { day };
  return { day: dayjs(freeze[1]).add(1, 'week').weekday(2), moved: freeze[2] };
}

let minor = 30;
for (const planned of everySixWeeks('2024-01-09', '2025-01-01')) {
  const { day, moved } = outOfFreeze(planned);
  console.log(`1.${minor++}.0  ${day.format('ddd D MMM YYYY')}${moved ? `  (moved: ${moved})` : ''}`);
}
