// Row: 8.5 bodies that are none, batches with one of them, cookies and names with what may not be in them
import http from 'k6/http';
import { echoed, echoedBody, same } from '../lib/same.js';

export const options = { iterations: 1 };

export default async function () {
  const url = `${__ENV.BASE}/x`;
  const told = (response) => [response.status, response.error_code, response.error];
  const bodies = {
    list: [1, 2],
    date: new Date(0),
    map: new Map([['a', 1]]),
    set: new Set([1]),
    function: () => 1,
    promise: Promise.resolve(1),
    words: new Uint16Array([97]),
    numbers: new Float64Array([1]),
    boolean: true,
    fraction: 1.5,
    big: 5n,
    file: http.file('x', 'n', 't'),
  };
  for (const [name, body] of Object.entries(bodies)) {
    console.log(name, JSON.stringify(told(http.post(url, body))));
  }
  same('bytes', echoedBody(http.post(url, new Uint8ClampedArray([97]))), 'a');
  same('dates in a form', echoedBody(http.post(url, { a: new Date(5) })), 'a=1970-01-01+00%3A00%3A00.005+%2B0000+UTC');
  console.log(JSON.stringify(told(http.post(url, [1], { throw: true }))));
  console.log(JSON.stringify(told(http.get(url, { timeout: 'soon', throw: true }))));
  console.log(JSON.stringify(told(await http.asyncRequest('POST', url, [1]))));

  const batch = http.batch([url, ['POST', url, [1]], url]);
  console.log(batch.length, JSON.stringify([told(batch[0]), told(batch[1])]), batch[2]);
  console.log(JSON.stringify(told(http.batch([[5, url]])[0])));
  console.log(JSON.stringify(told(http.batch([{ method: null, url }])[0])));

  const cookie = (cookies) => echoed(http.get(url, { cookies }), 'cookie');
  same('null', cookie({ c: null }), undefined);
  same('undefined', cookie({ c: undefined }), undefined);
  same('an object', cookie({ d: {} }), 'd=');
  same('a null in it', cookie({ d: { value: null } }), 'd=null');
  same('a list', cookie({ d: [1, 2] }), 'd="1,2"');
  same('spaces', cookie({ d: 'x y' }), 'd="x y"');
  same('as they were', http.get(url, { cookies: { d: 'x y' } }).request.cookies.d[0].value, 'x y');
  same('a name', cookie({ 'a\nb': 'x' }), 'a-b=x');

  const part = (name) => echoedBody(http.post(url, { f: http.file('x', name) })).split('\r\n')[1];
  const file = 'Content-Disposition: form-data; name="f"; filename=';
  same('quotes', part('a"b\\c'), `${file}"a\\"b\\\\c"`);
  same('no name', part(''), `${file}""`);
  same('null as a name', http.file('x', null).filename, '');
  same('a number', http.file('x', 5, 6).content_type, '6');
}
