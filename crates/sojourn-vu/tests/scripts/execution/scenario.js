// Row: 8.7 exec.scenario
import exec from 'k6/execution';
import { same, throws } from '../lib/same.js';

export const options = {
  scenarios: { mine: { executor: 'shared-iterations', vus: 1, iterations: 3 } },
  thresholds: { checks: ['rate==1'] },
};

export function setup() {
  throws('not in setup', () => exec.scenario.name, 'scenario');
}

export default function () {
  const it = exec.scenario;
  same('name', [it.name, it.executor], ['mine', 'shared-iterations']);
  same('iterations', [it.iterationInInstance, it.iterationInTest], [__ITER, __ITER]);
  same('progress', it.progress >= 0 && it.progress <= 1, true);
  same('start', Math.abs(Date.now() - it.startTime) < 5000, true);
  same('members', Object.keys(it).sort(), [
    'executor',
    'iterationInInstance',
    'iterationInTest',
    'name',
    'progress',
    'startTime',
  ]);
}
