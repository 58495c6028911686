// Row: 8.3 a threshold that fails: exit code 99, the test goes on to its end
import { Counter } from 'k6/metrics';

const counter = new Counter('cc');

export const options = {
  iterations: 3,
  thresholds: { cc: ['count<2', 'count>0'], iterations: ['count==3'] },
};

export default function () {
  counter.add(1);
}

export function teardown() {
  console.log('teardown');
}
