// Row: 8.4 randomSeed: the same numbers again
import { randomSeed } from 'k6';
import { same } from '../lib/same.js';

export const options = { thresholds: { checks: ['rate==1'] } };

export default function () {
  const three = (seed) => {
    randomSeed(seed);
    return [Math.random(), Math.random(), Math.random()];
  };
  const first = three(42);
  same('again', three(42), first);
  same('another', JSON.stringify(three(43)) === JSON.stringify(first), false);
  same(
    'between 0 and 1',
    first.every((it) => it >= 0 && it < 1),
    true,
  );
}
