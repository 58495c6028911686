// Row: 8.3 noCookiesReset
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = {
  iterations: 3,
  noCookiesReset: true,
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const status = http.get(`${__ENV.BASE}/cookie/get?cookie=a`).status;
  same('kept from iteration to iteration', status, __ITER === 0 ? 403 : 200);
  http.get(`${__ENV.BASE}/cookie/set?cookie=a`);
}
