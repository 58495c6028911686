// Row: 8.3 dns
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = {
  dns: { ttl: '0', select: 'roundRobin', policy: 'onlyIPv4' },
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  same('resolved', http.get(__ENV.BASE.replace('127.0.0.1', 'localhost')).status, 200);
}
