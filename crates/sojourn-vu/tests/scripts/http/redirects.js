// Row: 8.5 redirects
import http from 'k6/http';
import { echoed, same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const response = http.get(`${__ENV.ROUTES}/hops/3`);
  same('followed', response.json(), { arrived: true });
  same('where it ended', response.url, `${__ENV.ROUTES}/hops/0`);
  const one = http.get(`${__ENV.ROUTES}/hops/3`, { redirects: 1 });
  same('one only', [one.status, one.headers.Location], [302, '/hops/1']);
  const none = http.get(`${__ENV.ROUTES}/hops/3`, { redirects: 0 });
  same(
    'none',
    [none.status, none.headers.Location, none.url],
    [302, '/hops/2', `${__ENV.ROUTES}/hops/3`],
  );

  const there = encodeURIComponent('/there');
  const after = (status, method, body) => {
    const it = http.request(method, `${__ENV.BASE}/x?status=${status}&location=${there}`, body);
    return (
      it.body.split('\r\n')[0].replace(' HTTP/1.1', '') + ' ' + (echoed(it, 'content-length') || '')
    );
  };
  same('303 makes a GET', after(303, 'POST', 'abc'), 'GET /there ');
  same('302 too', after(302, 'POST', 'abc'), 'GET /there ');
  same('301 too', after(301, 'PUT', 'abc'), 'GET /there ');
  same('307 does not', after(307, 'POST', 'abc'), 'POST /there 3');
  same('308 does not', after(308, 'PUT', 'abc'), 'PUT /there 3');
  same(
    'referer',
    echoed(http.get(`${__ENV.BASE}/x?status=302&location=${there}`), 'referer'),
    `${__ENV.BASE}/x?status=302&location=${there}`,
  );
}
