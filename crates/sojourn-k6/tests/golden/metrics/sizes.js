// Trends of 0, 1, 2, 3, 10 and 100 samples, under other stats and another unit.
import { Trend } from 'k6/metrics';

export const options = {
  summaryTrendStats: ['count', 'min', 'p(99.99)', 'med', 'avg', 'p(0)', 'p(33.3)', 'max', 'p(100)'],
  summaryTimeUnit: __ENV.UNIT || undefined,
};

const sizes = [0, 1, 2, 3, 10, 100];
const plain = sizes.map((n) => new Trend(`plain_${n}`));
const times = sizes.map((n) => new Trend(`times_${n}`, true));

export default function () {
  sizes.forEach((n, at) => {
    for (let k = 0; k < n; k++) {
      plain[at].add((k * 7919) % 101 / 3);
      times[at].add((k * 104729) % 997 * 1.37);
    }
  });
}
