// Row: 8.5 Response.json and its selectors
import http from 'k6/http';
import { same, strict, throws } from '../lib/same.js';

export const options = strict;

const text = JSON.stringify({
  name: { first: 'Tom', last: 'Anderson' },
  age: 37,
  big: 12345678901234567890,
  list: ['a', 'b', 'c'],
  friends: [
    { first: 'Dale', age: 44, nets: ['ig', 'fb'] },
    { first: 'Roger', age: 68, nets: ['fb'] },
    { first: 'Jane', age: 47, nets: [] },
  ],
  'dotted.key': 'dot',
  none: null,
  yes: true,
});

export default function () {
  const response = http.post(`${__ENV.BASE}/x`, text);
  throws('the echo is no JSON', () => response.json(), 'cannot parse json');
  const data = http.get(`${__ENV.BASE}/data/test.json`);
  same('all of it', data.json(), JSON.parse(data.body));
  same('of an array', Array.isArray(http.get(`${__ENV.BASE}/data/test_array.json`).json()), true);
  const got = http.post(`${__ENV.ROUTES}/json`, JSON.stringify({ value: 'x' }), {
    headers: { 'content-type': 'application/json' },
  });
  same('selected', [got.json('got'), got.json('kind')], ['x', 'application/json']);
  same('not there', got.json('nothing.here'), undefined);
  throws('wrong JSON', () => http.get(`${__ENV.ROUTES}/not-json`).json(), 'line 1');
  throws('no body', () => http.get(`${__ENV.BASE}/x`, { responseType: 'none' }).json(), 'body');
  try {
    http.get(`${__ENV.ROUTES}/not-json`).json();
  } catch (error) {
    console.log(String(error), error.name);
  }
}
