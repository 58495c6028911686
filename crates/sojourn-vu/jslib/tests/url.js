import { URL, URLSearchParams } from '../url.js';
import { done, options, same, throws } from './compare.js';

export { options };

/**
 * Examples of the URL standard, section 4.1, and cases of its kinds: input, base, href; null for
 * failure.
 */
const cases = [
  ['https:example.org', null, 'https://example.org/'],
  ['https://////example.com///', null, 'https://example.com///'],
  ['https://example.com/././foo', null, 'https://example.com/foo'],
  ['hello:world', 'https://example.com/', 'hello:world'],
  ['https:example.org', 'https://example.com/', 'https://example.com/example.org'],
  ['\\example\\..\\demo/.\\', 'https://example.com/', 'https://example.com/demo/'],
  ['example', 'https://example.com/demo', 'https://example.com/example'],
  ['file:///C|/demo', null, 'file:///C:/demo'],
  ['..', 'file:///C:/demo', 'file:///C:/'],
  ['file://loc%61lhost/', null, 'file:///'],
  ['https://user:password@example.org/', null, 'https://user:password@example.org/'],
  ['https://example.org/foo bar', null, 'https://example.org/foo%20bar'],
  ['https://EXAMPLE.com/../x', null, 'https://example.com/x'],
  ['https://ex ample.org/', null, null],
  ['example', null, null],
  ['https://example.com:demo', null, null],
  ['http://[www.example.com]/', null, null],
  ['https://example.org//', null, 'https://example.org//'],
  ['https://example.com/[]?[]#[]', null, 'https://example.com/[]?[]#[]'],
  ['https://example/%?%#%', null, 'https://example/%?%#%'],
  ['https://example/%25?%25#%25', null, 'https://example/%25?%25#%25'],
  ['https://faß.example/', null, 'https://xn--fa-hia.example/'],
  ['https://münchen.example/ä?ö#ü', null, 'https://xn--mnchen-3ya.example/%C3%A4?%C3%B6#%C3%BC'],
  ['http://例え.テスト/', null, 'http://xn--r8jz45g.xn--zckzah/'],
  ['http://1.2.3.4/', null, 'http://1.2.3.4/'],
  ['http://0x7f.1/', null, 'http://127.0.0.1/'],
  ['http://2130706433/', null, 'http://127.0.0.1/'],
  ['http://256.1.1.1/', null, null],
  ['http://1.2.3.4.5/', null, null],
  ['http://[::1]:80/', null, 'http://[::1]/'],
  ['http://[2001:DB8:0:0:1:0:0:1]/', null, 'http://[2001:db8::1:0:0:1]/'],
  ['http://[::ffff:1.2.3.4]/', null, 'http://[::ffff:102:304]/'],
  ['http://[1:2:3]/', null, null],
  ['http://a:65536/', null, null],
  ['http://a:0/', null, 'http://a:0/'],
  ['https://a:443/', null, 'https://a/'],
  ['http://a:443/', null, 'http://a:443/'],
  ['mailto:a@b.c', null, 'mailto:a@b.c'],
  ['data:text/plain,a b?c#d', null, 'data:text/plain,a b?c#d'],
  ['javascript:alert(1)', null, 'javascript:alert(1)'],
  ['non-special://a b/', null, null],
  ['non-special://host:99/p/../q', null, 'non-special://host:99/q'],
  ['x:/a/./b', null, 'x:/a/b'],
  ['//other/x', 'https://example.com/y', 'https://other/x'],
  ['?q', 'https://example.com/y?z#f', 'https://example.com/y?q'],
  ['#g', 'https://example.com/y?z#f', 'https://example.com/y?z#g'],
  ['', 'https://example.com/y?z#f', 'https://example.com/y?z'],
  ['../../../a', 'https://example.com/b/c/d', 'https://example.com/a'],
  ['./', 'https://example.com/b/c', 'https://example.com/b/'],
  ['a/%2e%2E/b', 'https://example.com/', 'https://example.com/b'],
  ['#x', 'mailto:a', 'mailto:a#x'],
  ['x', 'mailto:a', null],
  ['  http://a/\tb\n', null, 'http://a/b'],
  ["http://a/?'", null, 'http://a/?%27'],
  ["x://a/?'", null, "x://a/?'"],
  ['http://user@@host/', null, 'http://user%40@host/'],
  ['http://@/', null, null],
  ['http://u:@h/', null, 'http://u@h/'],
  ['file:a', null, 'file:///a'],
  ['file://host/a/../b', null, 'file://host/b'],
  ['/x', 'file://host/C:/y', 'file://host/C:/x'],
];

export default function () {
  for (const [input, base, href] of cases) {
    let got = null;
    try {
      got = (base === null ? new URL(input) : new URL(input, base)).href;
    } catch {
      // null stands for it
    }
    same(`${input} on ${base}`.replace(/:/g, ';'), got, href);
  }
  const url = new URL('https://us%20er:pa@example.com:8080/a/b?c=d&e=f#g');
  same(
    'members',
    [
      url.protocol,
      url.username,
      url.password,
      url.host,
      url.hostname,
      url.port,
      url.pathname,
      url.search,
      url.hash,
      url.origin,
    ],
    [
      'https:',
      'us%20er',
      'pa',
      'example.com:8080',
      'example.com',
      '8080',
      '/a/b',
      '?c=d&e=f',
      '#g',
      'https://example.com:8080',
    ],
  );
  same('as text', [`${url}`, JSON.stringify(url)], [url.href, `"${url.href}"`]);
  url.searchParams.append('h', 'i j');
  same('parameters go into the query', url.search, '?c=d&e=f&h=i+j');
  url.search = '?only=1';
  same('and the other way', url.searchParams.get('only'), '1');
  url.port = '443';
  url.hash = '';
  url.pathname = 'x y';
  url.host = 'other.example:81';
  url.username = '';
  url.password = '';
  same('set', url.href, 'https://other.example:81/x%20y?only=1');
  url.protocol = 'http';
  url.port = '80';
  url.hostname = 'third.example';
  same('set again', url.href, 'http://third.example/x%20y?only=1');
  url.protocol = 'mailto';
  url.port = 'x';
  url.hostname = 'a b';
  same('what is wrong changes nothing', url.href, 'http://third.example/x%20y?only=1');
  url.searchParams.delete('only');
  same('no query left', url.href, 'http://third.example/x%20y');
  throws('no URL', () => new URL('nothing'), 'Invalid URL');
  same('canParse', [URL.canParse('http://a/'), URL.canParse('a')], [true, false]);

  const params = new URLSearchParams('?a=1&b=2&a=3&c&d=%20+x&=e');
  same(
    'read',
    [...params],
    [
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
      ['c', ''],
      ['d', '  x'],
      ['', 'e'],
    ],
  );
  same(
    'get',
    [params.get('a'), params.getAll('a'), params.get('z'), params.has('c'), params.size],
    ['1', ['1', '3'], null, true, 6],
  );
  params.set('a', '9');
  params.delete('');
  params.append('ü', '&=');
  same('written', params.toString(), 'a=9&b=2&c=&d=++x&%C3%BC=%26%3D');
  same('of an object', new URLSearchParams({ x: 1, y: 'z w' }).toString(), 'x=1&y=z+w');
  same(
    'of pairs',
    new URLSearchParams([
      ['b', '1'],
      ['a', '2'],
    ]).toString(),
    'b=1&a=2',
  );
  const sorted = new URLSearchParams('z=1&a=2&z=0');
  sorted.sort();
  same('sorted', sorted.toString(), 'a=2&z=1&z=0');
  const seen = [];
  sorted.forEach((value, name) => seen.push(name + value));
  same('forEach', seen, ['a2', 'z1', 'z0']);
  same(
    'keys and values',
    [[...sorted.keys()], [...sorted.values()]],
    [
      ['a', 'z', 'z'],
      ['2', '1', '0'],
    ],
  );
  same(
    'plain letters',
    new URLSearchParams([["*-._ !'()~", 'é']]).toString(),
    '*-._+%21%27%28%29%7E=%C3%A9',
  );
  done();
}
