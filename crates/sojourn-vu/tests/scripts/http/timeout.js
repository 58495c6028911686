// Row: 8.5 params.timeout: error code 1050
import http from 'k6/http';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  for (const timeout of ['200ms', 200, '0.2s', '200']) {
    const begin = Date.now();
    const response = http.get(`${__ENV.ROUTES}/slow`, { timeout });
    same(
      `given up ${timeout}`,
      [response.status, response.error, response.error_code, response.body],
      [0, 'request timeout', 1050, null],
    );
    same('in time', Date.now() - begin < 1000, true);
  }
  same('not reached', http.get(`${__ENV.BASE}/x?delay=100`, { timeout: '5s' }).status, 200);
}
