// Row: 8.5 body types
import http from 'k6/http';
import { echoed, echoedBody, same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const url = `${__ENV.BASE}/x`;
  const sent = (body, params) => {
    const response = http.post(url, body, params);
    return [echoed(response, 'content-type'), echoedBody(response)];
  };
  const form = 'application/x-www-form-urlencoded';
  same('a text', sent('plain'), [undefined, 'plain']);
  same('bytes', sent(new Uint8Array([97, 98]).buffer), [undefined, 'ab']);
  same('a view', sent(new Uint8Array([97, 98, 99]).subarray(1)), [undefined, 'bc']);
  same('an object', sent({ a: 1, b: 'two words', c: true }), [form, 'a=1&b=two+words&c=true']);
  same('keys are sorted', sent({ z: 1, a: 2 }), [form, 'a=2&z=1']);
  same('lists', sent({ a: [1, 2], 'b[]': ['x'] }), [form, 'a=1&a=2&b%5B%5D=x']);
  same('null', sent({ a: null }), [form, 'a=%3Cnil%3E']);
  same('a form with a type of its own', sent({ a: 1 }, { headers: { 'Content-Type': 'text/x' } }), [
    'text/x',
    'a=1',
  ]);
  same(
    'json',
    sent(JSON.stringify({ a: 1 }), { headers: { 'content-type': 'application/json' } }),
    ['application/json', '{"a":1}'],
  );
  same('nothing', sent(null), [undefined, '']);
  same('undefined', sent(undefined), [undefined, '']);
  same('an empty object', sent({}), [form, '']);
  same('length', echoed(http.post(url, 'aé'), 'content-length'), '3');
  same('no length', echoed(http.get(url), 'content-length'), undefined);
}
