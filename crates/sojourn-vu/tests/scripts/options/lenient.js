// Row: 8.3 numbers as texts, durations as numbers and as texts
import { plan } from '../lib/plan.js';

export const options = {
  setupTimeout: '5000',
  teardownTimeout: 2500.5,
  scenarios: {
    a: { executor: 'shared-iterations', vus: '2', iterations: '4', maxDuration: 90000 },
    b: { executor: 'per-vu-iterations', vus: 1, maxDuration: '1h2m3.5s', startTime: '10' },
    c: { executor: 'ramping-vus', stages: [{ duration: '300', target: '1' }], startVUs: '0' },
    d: { executor: 'per-vu-iterations', maxDuration: '1d12h', gracefulStop: '0s' },
  },
};

export function setup() {
  plan();
}

export default function () {}
