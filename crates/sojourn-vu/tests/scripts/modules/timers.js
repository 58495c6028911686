// Row: 8.6 k6/timers
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'k6/timers';
import timers from 'k6/timers';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  same('the same as the globals', typeof timers.setTimeout, 'function');
  let ticks = 0;
  const id = setInterval(() => {
    ticks += 1;
    if (ticks === 3) clearInterval(id);
  }, 10);
  const never = setTimeout(() => same('never', true, false), 100);
  clearTimeout(never);
  setTimeout(() => same('ticks', ticks, 3), 400);
}
