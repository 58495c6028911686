// Row: 8.3 connections are kept over iterations
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = { iterations: 2, thresholds: { checks: ['rate==1'] } };

export default function () {
  const opened = () => http.get(`${__ENV.BASE}/x`).timings.connecting > 0;
  same('opened once', [opened(), opened()], [__ITER === 0, false]);
}
