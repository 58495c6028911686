// Row: 8.3 per-vu-iterations: each user so many
import { Counter } from 'k6/metrics';

const each = new Counter('each');

export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } },
  thresholds: {
    'each{user:1}': ['count==2'],
    'each{user:2}': ['count==2'],
    'each{user:3}': ['count==2'],
  },
};

export default function () {
  each.add(1, { user: String(__VU) });
}
