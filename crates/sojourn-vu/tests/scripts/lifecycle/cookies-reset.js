// Row: 8.2 the cookie jar is emptied before each iteration
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = { iterations: 2, thresholds: { checks: ['rate==1'] } };

export default function () {
  same('no cookie at first', http.get(`${__ENV.BASE}/cookie/get?cookie=a`).status, 403);
  http.get(`${__ENV.BASE}/cookie/set?cookie=a`);
  same('then one', http.get(`${__ENV.BASE}/cookie/get?cookie=a`).status, 200);
}
