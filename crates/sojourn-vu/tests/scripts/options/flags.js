// Row: 8.3 flags win over the script's options, and erase its scenarios
// Args: --vus 2 --iterations 3 --tag team=a --tag place=b --summary-time-unit us
import { plan } from '../lib/plan.js';

export const options = {
  tags: { team: 'script', own: 'gone' },
  scenarios: { own: { executor: 'per-vu-iterations', vus: 9 } },
};

export function setup() {
  plan();
}

export default function () {}
