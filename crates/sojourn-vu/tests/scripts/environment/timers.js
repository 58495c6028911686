// Row: 8.1 setTimeout, clearTimeout, setInterval, clearInterval
import { same, strict } from '../lib/same.js';

export const options = Object.assign({ iterations: 1 }, strict);

export default function () {
  const order = [];
  const cancelled = setTimeout(() => order.push('cancelled'), 5);
  clearTimeout(cancelled);
  setTimeout((a, b) => order.push(`later ${a} ${b}`), 30, 'x', 'y');
  setTimeout(() => order.push('soon'), 10);
  let ticks = 0;
  const every = setInterval(() => {
    ticks += 1;
    order.push(`tick ${ticks}`);
    if (ticks === 2) clearInterval(every);
  }, 50);
  clearTimeout(undefined);
  clearTimeout(12345);
  setTimeout(() => {
    same('order', order, ['soon', 'later x y', 'tick 1', 'tick 2']);
    same('numbers', [typeof cancelled, typeof every], ['number', 'number']);
  }, 200);
}
