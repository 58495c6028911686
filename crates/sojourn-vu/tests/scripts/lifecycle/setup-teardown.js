// Row: 8.2 setup and teardown: once for a test, the data as JSON
import { Counter } from 'k6/metrics';
import { same } from '../lib/same.js';

const runs = new Counter('runs');

export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } },
  thresholds: {
    checks: ['rate==1'],
    'runs{in:setup,group:::setup}': ['count==1'],
    'runs{in:teardown,group:::teardown}': ['count==1'],
    'runs{in:default}': ['count==4'],
  },
};

export function setup() {
  runs.add(1, { in: 'setup' });
  return {
    list: [1, 2],
    when: new Date(0),
    left: undefined,
    deep: { n: null },
  };
}

export default function (data) {
  runs.add(1, { in: 'default' });
  // Not what JSON.stringify would make of dates and of undefined.
  same(
    'as JSON makes it',
    { ...data, seen: undefined },
    {
      list: [1, 2],
      left: null,
      when: '1970-01-01T00:00:00Z',
      deep: { n: null },
    },
  );
  same('a copy for each user, kept between iterations', data.seen, __ITER === 0 ? undefined : __VU);
  data.seen = __VU;
}

export function teardown(data) {
  runs.add(1, { in: 'teardown' });
  same('teardown has the original', data.seen, undefined);
  same('and all of it', data.list, [1, 2]);
}
