// Row: 8.3 discardResponseBodies
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = { discardResponseBodies: true, thresholds: { checks: ['rate==1'] } };

export default function () {
  same('none', http.get(`${__ENV.BASE}/data/test.json`).body, null);
  const asked = http.get(`${__ENV.BASE}/data/test.json`, { responseType: 'text' });
  same('unless asked for', typeof asked.body, 'string');
}
