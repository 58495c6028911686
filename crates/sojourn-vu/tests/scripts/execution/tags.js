// Row: 8.7 exec.vu.tags, exec.vu.metrics.tags and metadata
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
import { group } from 'k6';
import { same, throws } from '../lib/same.js';

const mine = new Counter('mine');

export const options = {
  scenarios: {
    all: { executor: 'per-vu-iterations', vus: 1, iterations: 2, tags: { of: 'scenario' } },
  },
  thresholds: {
    checks: ['rate==1'],
    'mine{own:a}': ['count==1'],
    'mine{own:5}': ['count==1'],
    'mine{number:7}': ['count==1'],
    'mine{group:::g,of:scenario}': ['count==1'],
  },
};

export default function () {
  if (__ITER > 0) {
    same('gone in the next iteration', exec.vu.metrics.tags.own, undefined);
    return;
  }
  exec.vu.metrics.tags.own = 'a';
  mine.add(1);
  exec.vu.tags.own = 5;
  mine.add(1);
  same('read', [exec.vu.metrics.tags.own, exec.vu.tags.own], ['5', '5']);
  delete exec.vu.metrics.tags.own;
  same('deleted', exec.vu.metrics.tags.own, undefined);
  exec.vu.metrics.tags.number = 7;
  exec.vu.metrics.metadata.trace = 'id';
  mine.add(1);
  delete exec.vu.metrics.tags.number;
  same(
    'of the scenario',
    [exec.vu.metrics.tags.of, exec.vu.metrics.tags.scenario],
    ['scenario', 'all'],
  );
  group('g', () => mine.add(1));
  same('has', ['of' in exec.vu.metrics.tags, 'not' in exec.vu.metrics.tags], [true, false]);
  console.log(Object.keys(exec.vu.metrics.tags).sort().join(' '));
  throws(
    'an object is no value',
    () => {
      exec.vu.metrics.tags.deep = {};
    },
    'TypeError',
  );
  console.log(JSON.stringify(exec.vu.metrics.metadata));
}
