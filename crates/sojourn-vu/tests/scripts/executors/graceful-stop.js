// Row: 8.3 gracefulStop: what is not done then is interrupted, and is no iteration
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const begun = new Counter('begun');

export const options = {
  scenarios: { all: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '100ms' } },
  thresholds: { begun: ['count==4'], iterations: ['count==2'] },
};

export default function () {
  begun.add(1);
  sleep(0.8);
}
