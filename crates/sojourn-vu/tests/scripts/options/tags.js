// Row: 8.3 tags of a test and of a scenario are on every sample
import { Counter } from 'k6/metrics';

const mine = new Counter('mine');

export const options = {
  tags: { team: 'a', both: 'test' },
  scenarios: {
    one: { executor: 'per-vu-iterations', tags: { both: 'scenario', own: 'x' } },
    two: { executor: 'per-vu-iterations' },
  },
  thresholds: {
    'mine{team:a,both:scenario,own:x}': ['count==1'],
    'mine{both:test}': ['count==1'],
    'mine{both:call}': ['count==2'],
  },
};

export default function () {
  mine.add(1);
  mine.add(1, { both: 'call' });
}
