// Row: 8.3 a certificate that nobody vouches for: error code 1310
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = { thresholds: { checks: ['rate==1'] } };

export default function () {
  const response = http.get(`${__ENV.TLS}/`);
  same('no answer', [response.status, response.error_code], [0, 1310]);
  console.log(response.error);
}
