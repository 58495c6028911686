// Row: 8.3 a threshold that fails: exit code 99, the test goes on to its end
import { Counter } from 'k6/metrics';

const counter = new Counter('c');

export const options = { iterations: 3, thresholds: { c: ['count<2', 'count>0'], iterations: ['count==3'] } };

export default function () {
  counter.add(1);
}

export function teardown() {
  console.log('teardown');
}
