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
  same('for the URL', jar.cookiesForURL(url), { a: ['1'], c: ['3'], d: ['4'] });
  same('for another', jar.cookiesForURL(`${__ENV.BASE}/other/y`), { b: ['2'], c: ['3'], d: ['4'] });
  same('sent', echoed(http.get(url), 'cookie'), 'a=1; c=3; d=4');
  jar.delete(url, 'd');
  jar.delete(`${__ENV.BASE}/deep/x`, 'a');
  same('deleted, where the path is the same', jar.cookiesForURL(url), { c: ['3'], d: ['4'] });
  jar.clear(url);
  same('cleared, where the path is the same', jar.cookiesForURL(url), { c: ['3'], d: ['4'] });

  const own = new http.CookieJar();
  own.set(url, 'mine', 'x');
  same('sent by params', echoed(http.get(url, { jar: own }), 'cookie'), 'mine=x');
  same('not in the other', jar.cookiesForURL(url), { c: ['3'], d: ['4'] });
  let text = 'nothing';
  try {
    jar.set(url, 'bad', 'x', { domain: 5, expires: 'not a date' });
  } catch (error) {
    text = String(error);
  }
  console.log(text);
}
