// Row: 8.5 params that are wrong
import http from 'k6/http';

const wrong = [
  { timeout: 'soon' },
  { timeout: -1 },
  { redirects: 'a' },
  { auth: 'other' },
  { tags: 'x' },
  { headers: 'x' },
  { cookies: 'x' },
  { jar: 'x' },
  { responseCallback: 5 },
  { unknown: 1 },
  { throw: 'yes' },
  { tags: { a: {} } },
  { headers: { 'X-A': null } },
  'text',
  5,
];

export const options = { iterations: wrong.length };

export default function () {
  const params = wrong[__ITER];
  try {
    console.log(`${JSON.stringify(params)}: ${http.get(`${__ENV.BASE}/x`, params).status}`);
  } catch (error) {
    console.log(`${JSON.stringify(params)}: ${error}`);
  }
}
