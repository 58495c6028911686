// Row: 8.5 params.headers
import http from 'k6/http';
import { echoed, same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const url = `${__ENV.BASE}/x`;
  const response = http.get(url, {
    headers: { 'x-lower': 'a', 'X-Number': 5, Host: 'other.test', 'X-Empty': '', 'X-Bool': true },
  });
  same(
    'sent',
    ['x-lower', 'x-number', 'x-empty', 'x-bool'].map((it) => echoed(response, it)),
    ['a', '5', '', 'true'],
  );
  same('host', echoed(response, 'host'), 'other.test');
  same('of the request', response.request.headers['X-Lower'], ['a']);
  same('received', response.headers['Content-Type'], 'text/plain; charset=utf-8');
  const own = echoed(http.get(url), 'user-agent');
  same('user agent', /^Grafana k6\/\d/.test(own) || /^[\w.]+\/\d/.test(own), true);
}
