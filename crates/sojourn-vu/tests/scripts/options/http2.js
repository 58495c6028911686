// Row: 8.3 HTTP/2 by ALPN: protocol, tags, several at once over one connection
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = { insecureSkipTLSVerify: true, thresholds: { checks: ['rate==1'] } };

export default function () {
  const first = http.get(`${__ENV.TLS}/x`);
  same('protocol', [first.proto, first.status, first.status_text], ['HTTP/2.0', 200, '200 OK']);
  const more = http.batch(Array.from({ length: 5 }, () => `${__ENV.TLS}/x?delay=100`));
  same(
    'the same connection',
    more.map((it) => it.timings.connecting),
    [0, 0, 0, 0, 0],
  );
  same('headers', first.headers['Content-Type'], 'text/plain; charset=utf-8');
}
