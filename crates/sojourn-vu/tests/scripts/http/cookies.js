// Row: 8.5 cookies of responses and of params
import http from 'k6/http';
import { echoed, same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const url = `${__ENV.ROUTES}/cookies`;
  const response = http.get(`${url}/set`);
  same('of the response', response.cookies.seen, [
    {
      name: 'seen',
      value: 'yes',
      domain: '',
      path: '/cookies',
      http_only: true,
      secure: false,
      max_age: 60,
      expires: -6795364578871,
    },
  ]);
  same('kept', http.get(`${url}/told`).json(), { seen: 'yes', hop: '' });
  same('sent', http.get(`${url}/told`).request.cookies.seen, [
    { name: 'seen', value: 'yes', replace: false },
  ]);
  http.get(`${url}/away`);
  same('ended', http.get(`${url}/told`).json('seen'), '');
  same('set on the way', http.get(`${url}/redirect`).json('hop'), 'one');

  const echo = (params) => echoed(http.get(`${__ENV.BASE}/x`, params), 'cookie');
  same('given', echo({ cookies: { a: 'b' } }), 'a=b; hop=one');
  same('twice', echo({ cookies: { hop: 'two' } }), 'hop=two; hop=one');
  same('instead', echo({ cookies: { hop: { value: 'three', replace: true } } }), 'hop=three');
  same('a jar of its own', echo({ jar: new http.CookieJar() }), undefined);
  same('no jar', echo({ jar: null }), 'hop=one');
}
