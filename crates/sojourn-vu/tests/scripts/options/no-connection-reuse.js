// Row: 8.3 noConnectionReuse
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = {
  iterations: 2,
  noConnectionReuse: true,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const opened = () => http.get(`${__ENV.BASE}/x`).timings.connecting > 0;
  same('always a new one', [opened(), opened()], [true, true]);
}
