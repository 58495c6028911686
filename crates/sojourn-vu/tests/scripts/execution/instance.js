// Row: 8.7 exec.instance
import exec from 'k6/execution';
import { sleep } from 'k6';
import { same } from '../lib/same.js';

export const options = {
  scenarios: { mine: { executor: 'per-vu-iterations', vus: 1, iterations: 3 } },
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const it = exec.instance;
  same('completed', it.iterationsCompleted, __ITER);
  same('interrupted', it.iterationsInterrupted, 0);
  same('users', [it.vusActive, it.vusInitialized], [1, 1]);
  sleep(0.05);
  const elapsed = it.currentTestRunDuration;
  same('elapsed', elapsed >= 50 && elapsed < 5000, true);
  same('members', Object.keys(it).sort(), [
    'currentTestRunDuration',
    'iterationsCompleted',
    'iterationsInterrupted',
    'vusActive',
    'vusInitialized',
  ]);
}
