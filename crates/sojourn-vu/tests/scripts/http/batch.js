// Row: 8.5 batch: arrays, objects, and every form of an item
import http from 'k6/http';
import { echoedBody, same, strict, throws } from '../lib/same.js';

export const options = strict;

export default function () {
  const url = `${__ENV.BASE}/x`;
  const line = (response) => response.body.split(' ')[0];
  const list = http.batch([
    url,
    ['POST', url, 'two'],
    ['PUT', url, null, { tags: { own: 'tag' }, headers: { 'X-A': '1' } }],
    { method: 'PATCH', url, body: 'four', params: { headers: { 'X-B': '2' } } },
    { url },
    http.url`${url}?n=${5}`,
  ]);
  same('an array', Array.isArray(list), true);
  same('methods', list.map(line), ['GET', 'POST', 'PUT', 'PATCH', 'GET', 'GET']);
  same('bodies', [echoedBody(list[1]), echoedBody(list[3])], ['two', 'four']);
  const named = http.batch({ first: url, second: ['DELETE', url] });
  same('an object', Object.keys(named).sort(), ['first', 'second']);
  same('its members', [line(named.first), line(named.second)], ['GET', 'DELETE']);
  const begin = Date.now();
  http.batch(Array.from({ length: 6 }, () => `${url}?delay=300`));
  same('six at once', Date.now() - begin < 900, true);
  same(
    'a lost one',
    http.batch([url, 'http://127.0.0.1:1/']).map((it) => it.status),
    [200, 0],
  );
  same('none', http.batch([]), []);
  throws('nothing', () => http.batch(), 'batch');
}
