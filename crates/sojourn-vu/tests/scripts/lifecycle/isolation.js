// Row: 8.2 users share nothing; a user keeps its globals over iterations and scenarios
import { count } from '../lib/part.js';
import { same } from '../lib/same.js';

export const options = {
  scenarios: {
    first: {
      executor: 'per-vu-iterations',
      vus: 2,
      iterations: 3,
      exec: 'first',
      maxDuration: '1s',
      gracefulStop: '0s',
    },
    second: {
      executor: 'per-vu-iterations',
      vus: 2,
      iterations: 1,
      exec: 'second',
      startTime: '1.5s',
    },
  },
  thresholds: { checks: ['rate==1'] },
};

let own = 0;

export function first() {
  own += 1;
  same('own globals', own, __ITER + 1);
  same('own modules', count(), __ITER + 1);
}

export function second() {
  same('kept by the next scenario', own, 3);
  same('iterations go on', __ITER, 3);
}
