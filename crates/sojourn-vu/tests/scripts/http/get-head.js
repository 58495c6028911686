// Row: 8.5 get, head
import http from 'k6/http';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const response = http.get(`${__ENV.BASE}/some/path?a=b`);
  same('get', response.body.split('\r\n')[0], 'GET /some/path?a=b HTTP/1.1');
  same('status', [response.status, response.status_text], [200, '200 OK']);
  const head = http.head(`${__ENV.BASE}/data/test.json`);
  same('head has no body', [head.status, head.body], [200, '']);
  same('params', http.get(`${__ENV.BASE}/x`, { headers: { 'X-A': '1' } }).body.includes('1'), true);
  same('null params', http.get(`${__ENV.BASE}/x`, null).status, 200);
}
