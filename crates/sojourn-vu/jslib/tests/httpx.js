// Needs a target that tells what it was sent: BASE, the URL of `sojourn mock`.
import { Get, Httpx, Post } from '../httpx.js';
import { done, options, same } from './compare.js';

export { options };

const line = (response) => response.body.split('\r\n')[0];
const header = (response, name) => {
  const it = response.body.split('\r\n').find((text) => text.toLowerCase().startsWith(`${name}: `));
  return it && it.slice(name.length + 2);
};

export default async function () {
  const session = new Httpx({
    baseURL: __ENV.BASE,
    headers: { 'X-Session': 'yes' },
    timeout: 20000,
    tags: { of: 'session' },
  });
  session.addHeader('X-One', '1');
  session.addHeaders({ 'X-Two': '2', 'X-Three': '3' });
  session.clearHeader('X-Three');
  session.addTag('more', 'x');
  session.clearTag('more');
  session.addTags({ last: 'tag' });
  const got = session.get('/a', null, { headers: { 'X-One': 'own' } });
  same('get', line(got), 'GET /a HTTP/1.1');
  same(
    'headers',
    ['x-session', 'x-one', 'x-two', 'x-three'].map((it) => header(got, it)),
    ['yes', 'own', '2', undefined],
  );
  for (const method of ['post', 'put', 'patch', 'delete', 'options']) {
    same(method, line(session[method]('/b', 'body')), `${method.toUpperCase()} /b HTTP/1.1`);
  }
  same('request', line(session.request('PURGE', '/c')), 'PURGE /c HTTP/1.1');
  same('an absolute URL', line(session.get(`${__ENV.BASE}/d`)), 'GET /d HTTP/1.1');
  const list = session.batch([new Get('/e'), new Post('/f', 'x'), '/g'], {
    headers: { 'X-Batch': 'b' },
  });
  same('batch', list.map(line), ['GET /e HTTP/1.1', 'POST /f HTTP/1.1', 'GET /g HTTP/1.1']);
  same(
    'its headers',
    list.map((it) => [header(it, 'x-batch'), header(it, 'x-two')]),
    [
      ['b', '2'],
      ['b', '2'],
      ['b', '2'],
    ],
  );
  same('a named batch', Object.keys(session.batch({ one: new Get('/h') })), ['one']);
  same('later', line(await session.asyncGet('/i')), 'GET /i HTTP/1.1');
  same('later too', line(await session.asyncRequest('POST', '/j', 'x')), 'POST /j HTTP/1.1');
  session.setBaseUrl(`${__ENV.BASE}/base`);
  same('another base', line(session.get('/k')), 'GET /base/k HTTP/1.1');
  done();
}
