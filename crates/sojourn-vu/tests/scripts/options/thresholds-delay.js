// Row: 8.3 delayAbortEval: not before
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const counter = new Counter('cc');

export const options = {
  vus: 1,
  duration: '3s',
  thresholds: { cc: [{ threshold: 'count<2', abortOnFail: true, delayAbortEval: '10s' }] },
};

export default function () {
  counter.add(1);
  sleep(0.5);
}

export function teardown() {
  console.log('teardown');
}
