// Row: 8.3 noConnectionReuse, noVUConnectionReuse: when connections are opened
// Args: --no-vu-connection-reuse
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = { iterations: 2, thresholds: { checks: ['rate==1'] } };

export default function () {
  const opened = () => http.get(`${__ENV.BASE}/x`).timings.connecting > 0;
  same('a new one in each iteration, kept within', [opened(), opened()], [true, false]);
}
