// Row: 8.5 headers, methods and lengths that can't be sent
import http from 'k6/http';
import { echoed, same, throws } from '../lib/same.js';

export default async function () {
  const url = `${__ENV.BASE}/x`;
  const told = (response) => [response.status, response.error_code, response.error];
  const name = 'net/http: invalid header field name "a b"';
  const method = 'net/http: invalid method "PROP FIND"';
  const wrong = { headers: { 'a b': 'x' } };
  same('a name', told(http.get(url, wrong)), [0, 1000, name]);
  same('a value', told(http.get(url, { headers: { 'x-a': 'x\r\ny: z' } })), [
    0,
    1000,
    'net/http: invalid header field value for "X-A"',
  ]);
  same('a method', told(http.request('PROP FIND', url)), [0, 1000, method]);
  same('in a batch', http.batch([['PROP FIND', url], ['GET', url]]).map((it) => it.status), [0, 200]);
  same('a promise', told(await http.asyncRequest('GET', url, null, wrong)), [0, 1000, name]);
  throws('thrown', () => http.get(url, { ...wrong, throw: true }), name);

  const line = (response) => response.body.split('\r\n')[0].split(' ')[0];
  same('no method', line(http.request('', url)), 'GET');
  same('its name', http.request('', url).request.method, '');
  same('null', line(http.request(null, url)), 'GET');

  const sent = (headers) => http.post(url, 'abc', { headers });
  same('a wrong length', echoed(sent({ 'content-length': '77' }), 'content-length'), '3');
  same('a right one', echoed(sent({ 'Content-Length': '3' }), 'content-length'), '3');
  same('another framing', echoed(sent({ 'Transfer-Encoding': 'chunked' }), 'content-length'), '3');
  same('two spellings', echoed(sent({ 'x-a': '1', 'X-A': '2' }), 'x-a'), '2');
}
