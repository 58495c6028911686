// Row: 8.5 asyncRequest
import http from 'k6/http';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default async function () {
  const url = `${__ENV.BASE}/x`;
  const promise = http.asyncRequest('GET', url);
  same('a promise', promise instanceof Promise, true);
  same('its response', (await promise).status, 200);
  const begin = Date.now();
  const all = await Promise.all(
    [1, 2, 3].map(() => http.asyncRequest('POST', `${url}?delay=300`, 'b')),
  );
  same(
    'several at once',
    [all.map((it) => it.status), Date.now() - begin < 800],
    [[200, 200, 200], true],
  );
  const first = await Promise.race([
    http.asyncRequest('GET', `${url}?delay=400`).then(() => 'slow'),
    http.asyncRequest('GET', url).then(() => 'quick'),
  ]);
  same('the first one', first, 'quick');
  const lost = await http.asyncRequest('GET', 'http://127.0.0.1:1/');
  same('refused', [lost.status, lost.error_code], [0, 1212]);
  let thrown = 'nothing';
  try {
    await http.asyncRequest('GET', 'http://127.0.0.1:1/', null, { throw: true });
  } catch (error) {
    thrown = String(error);
  }
  same('thrown', thrown.includes('connection refused'), true);
}
