// Requests to a server on this machine, among them one that is refused and one not found.
import http from 'k6/http';
import { check, group } from 'k6';

export const options = { iterations: 2, thresholds: { 'http_req_duration{status:200}': ['p(95)<5000'], http_req_failed: ['rate<0.1'] } };

export default function () {
  const base = __ENV.BASE;
  check(http.get(`${base}/`), { 'status is 200': (r) => r.status === 200 });
  http.get(`${base}/big`, { responseType: 'none' });
  group('missing', () => {
    check(http.get(`${base}/nowhere`, { tags: { name: 'nowhere' } }), { 'status is 200': (r) => r.status === 200 });
  });
}
