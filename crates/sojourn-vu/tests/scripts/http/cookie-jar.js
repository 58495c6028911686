// Row: 8.5 CookieJar
import http from 'k6/http';
import { echoed, same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const url = `${__ENV.BASE}/deep/x`;
  const jar = http.cookieJar();
  same('set', jar.set(url, 'a', '1', { path: '/deep' }), true);
  jar.set(url, 'b', '2', { path: '/other' });
  jar.set(url, 'c', '3', { secure: true, path: '/' });
  jar.set(url, 'd', '4', { max_age: 60, path: '/', http_only: true });
  jar.set(url, 'e', '5', { expires: 'Mon, 02 Jan 2006 15:04:05 MST', path: '/' });
  same('for the URL', jar.cookiesForURL(url), { a: ['1'], d: ['4'] });
  same('for another', jar.cookiesForURL(`${__ENV.BASE}/other/y`), { b: ['2'], d: ['4'] });
  same('sent', echoed(http.get(url), 'cookie'), 'a=1; d=4');
  jar.delete(url, 'd');
  same('deleted', jar.cookiesForURL(`${__ENV.BASE}/other/y`), { b: ['2'] });
  jar.clear(url);
  same('cleared', jar.cookiesForURL(url), {});

  const own = new http.CookieJar();
  own.set(url, 'mine', 'x');
  same('sent by params', echoed(http.get(url, { jar: own }), 'cookie'), 'mine=x');
  same('not in the other', jar.cookiesForURL(url), {});
  let text = 'nothing';
  try {
    jar.set(url, 'bad', 'x', { domain: 5, expires: 'not a date' });
  } catch (error) {
    text = String(error);
  }
  console.log(text);
}
