// Row: 8.3 abortOnFail ends the test: exit code 99, teardown is run
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const counter = new Counter('cc');

export const options = {
  vus: 1,
  duration: '20s',
  thresholds: { cc: [{ threshold: 'count<2', abortOnFail: true }] },
};

export default function () {
  counter.add(1);
  sleep(0.23);
}

export function teardown() {
  console.log('teardown');
}
