// Row: 8.5 every field of a response
import http from 'k6/http';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const response = http.post(`${__ENV.BASE}/x`, 'ab', {
    headers: { 'X-A': 'b' },
    cookies: { c: 'd' },
  });
  console.log(Object.keys(response).sort().join(' '));
  console.log(Object.keys(response.timings).sort().join(' '));
  console.log(Object.keys(response.request).sort().join(' '));
  same(
    'remote',
    [response.remote_ip, String(response.remote_port)],
    ['127.0.0.1', __ENV.BASE.split(':')[2]],
  );
  same('proto', response.proto, 'HTTP/1.1');
  same('no error', [response.error, response.error_code], ['', 0]);
  same('no tls', [response.tls_version, response.tls_cipher_suite], ['', '']);
  console.log(JSON.stringify(response.ocsp));
  const timings = response.timings;
  same(
    'times are numbers',
    Object.values(timings).every((it) => typeof it === 'number' && it >= 0),
    true,
  );
  const sum = timings.sending + timings.waiting + timings.receiving;
  same('which add up', Math.abs(sum - timings.duration) < 0.001, true);
  same('looked up', timings.looking_up, 0);
  const request = response.request;
  same('request', [request.method, request.url, request.body], ['POST', `${__ENV.BASE}/x`, 'ab']);
  same('its headers', request.headers['X-A'], ['b']);
  console.log(Object.keys(request.headers).sort().join(' '));
  same('its cookies', request.cookies, { c: [{ name: 'c', value: 'd', replace: false }] });

  const lost = http.get('http://127.0.0.1:1/x');
  same(
    'a lost one',
    [lost.status, lost.status_text, lost.body, lost.headers, lost.cookies, lost.proto],
    [0, '', null, {}, {}, ''],
  );
  same('its url', lost.url, 'http://127.0.0.1:1/x');
  console.log(lost.error, lost.error_code, lost.remote_ip, lost.remote_port);
}
