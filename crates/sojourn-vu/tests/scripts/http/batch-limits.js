// Row: 8.3 batchPerHost: only so many at once to one host
// Args: --batch 5 --batch-per-host 2
import http from 'k6/http';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const begin = Date.now();
  http.batch(Array.from({ length: 6 }, () => `${__ENV.BASE}/x?delay=200`));
  const elapsed = Date.now() - begin;
  same('three rounds of two', elapsed >= 590 && elapsed < 1100, true);
}
