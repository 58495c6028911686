// Row: 8.7 exec.vu
import exec from 'k6/execution';
import { same } from '../lib/same.js';

export const options = {
  scenarios: {
    one: {
      executor: 'per-vu-iterations',
      vus: 2,
      iterations: 2,
      exec: 'one',
      maxDuration: '1s',
      gracefulStop: '0s',
    },
    two: { executor: 'per-vu-iterations', vus: 2, iterations: 2, exec: 'two', startTime: '1.5s' },
  },
  thresholds: { checks: ['rate==1'] },
};

export function one() {
  const it = exec.vu;
  same('ids', [it.idInInstance, it.idInTest], [__VU, __VU]);
  same('iterations', [it.iterationInInstance, it.iterationInScenario], [__ITER, __ITER]);
  same('members', Object.keys(it).sort(), [
    'idInInstance',
    'idInTest',
    'iterationInInstance',
    'iterationInScenario',
    'metrics',
    'tags',
  ]);
}

export function two() {
  same('counted over scenarios', exec.vu.iterationInInstance, __ITER);
  same('and within', exec.vu.iterationInScenario, __ITER - 2);
}
