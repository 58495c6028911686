// Row: 8.3 rps: at most so many requests a second
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = { rps: 10, vus: 1, iterations: 1, thresholds: { checks: ['rate==1'] } };

export default function () {
  const begin = Date.now();
  for (let i = 0; i < 6; i++) http.get(`${__ENV.BASE}/x`);
  const elapsed = Date.now() - begin;
  same('six take half a second', elapsed > 400 && elapsed < 1500, true);
}
