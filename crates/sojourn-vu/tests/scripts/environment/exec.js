// Row: 8.1 named exec functions
import { Counter } from 'k6/metrics';

const calls = new Counter('calls');

export const options = {
  scenarios: {
    first: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'one' },
    second: { executor: 'per-vu-iterations', vus: 1, iterations: 3, exec: 'two' },
  },
  thresholds: {
    'calls{who:one}': ['count==2'],
    'calls{who:two}': ['count==3'],
    'iterations{scenario:first}': ['count==2'],
  },
};

export function one() {
  calls.add(1, { who: 'one' });
}

export const two = () => calls.add(1, { who: 'two' });

export default function () {
  throw new Error('nobody asked for this one');
}
