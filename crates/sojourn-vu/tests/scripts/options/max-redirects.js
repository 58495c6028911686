// Row: 8.3 maxRedirects: beyond, the redirect itself is the answer, with a warning
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = { maxRedirects: 2, thresholds: { checks: ['rate==1'] } };

export default function () {
  same('two are followed', http.get(`${__ENV.ROUTES}/hops/2`).status, 200);
  const response = http.get(`${__ENV.ROUTES}/hops/4`);
  same('a third is not', response.status, 302);
  same('and shows where to', response.headers.Location, '/hops/1');
}
