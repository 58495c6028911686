// Row: 8.3 shared-iterations: a common counter
import exec from 'k6/execution';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const each = new Counter('each');

export const options = {
  scenarios: { all: { executor: 'shared-iterations', vus: 3, iterations: 7 } },
  thresholds: {
    iterations: ['count==7'],
    'each{at:0}': ['count==1'],
    'each{at:6}': ['count==1'],
  },
};

export default function () {
  each.add(1, { at: String(exec.scenario.iterationInTest) });
  sleep(0.05);
}
