// Row: 8.3 throw: requests that fail throw
// Args: -w
import http from 'k6/http';
import { same, throws } from '../lib/same.js';

export const options = { thresholds: { checks: ['rate==1'] } };

export default function () {
  throws('refused', () => http.get('http://127.0.0.1:1/'), 'connection refused');
  same('a status does not', http.get(`${__ENV.BASE}/x?status=500`).status, 500);
  same('unless told', http.get('http://127.0.0.1:1/', { throw: false }).status, 0);
}
