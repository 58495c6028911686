// Row: 8.3 maxDuration: what could not be begun is dropped
import { sleep } from 'k6';

export const options = {
  scenarios: {
    each: { executor: 'per-vu-iterations', vus: 2, iterations: 5, maxDuration: '1s' },
    shared: { executor: 'shared-iterations', vus: 2, iterations: 10, maxDuration: '1s' },
  },
  thresholds: {
    'iterations{scenario:each}': ['count==4'],
    'iterations{scenario:shared}': ['count==4'],
    'dropped_iterations{scenario:each}': ['count==6'],
    'dropped_iterations{scenario:shared}': ['count==6'],
  },
};

export default function () {
  sleep(0.7);
}
