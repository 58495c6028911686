// Row: 8.3 userAgent
import http from 'k6/http';
import { echoed, same } from '../lib/same.js';

export const options = { userAgent: 'mine/1.0', thresholds: { checks: ['rate==1'] } };

export default function () {
  same('ours', echoed(http.get(`${__ENV.BASE}/x`), 'user-agent'), 'mine/1.0');
  const headers = { 'user-agent': 'of the call' };
  same(
    'a header wins',
    echoed(http.get(`${__ENV.BASE}/x`, { headers }), 'user-agent'),
    'of the call',
  );
}
