// Limits how often a function may be called. Time is handed in, so that the check needn't wait.
type Clock = () => number;
type Call<A extends unknown[], R> = (...args: A) => R;

function limited<A extends unknown[], R>(call: Call<A, R>, perSecond: number, burst: number, now: Clock): Call<A, R | undefined> {
  let tokens = burst;
  let last = now();
  return (...args: A) => {
    const time = now();
    tokens = Math.min(burst, tokens + ((time - last) / 1000) * perSecond);
    last = time;
    if (tokens < 1) return undefined;
    tokens -= 1;
    return call(...args);
  };
}

let ticks = 0;
const clock: Clock = () => ticks;
const exec = (command: string): string => `would run ${command}`;
const careful = limited(exec, 2, 3, clock);

const results: Array<string | undefined> = [];
for (const wait of [0, 0, 0, 0, 400, 200, 1000]) {
  ticks += wait;
  results.push(careful('rm -rf /var/cache/site'));
}
const passed = results.filter((result) => result !== undefined).length;
console.log(`${passed} of ${results.length} calls passed`);
if (passed !== 5) throw new Error('the bucket leaks');
