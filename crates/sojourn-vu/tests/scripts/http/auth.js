// Row: 8.5 params.auth: basic by URL, digest
import http from 'k6/http';
import { echoed, same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const base = __ENV.BASE.replace('//', '//user:pass@');
  const routes = __ENV.ROUTES.replace('//', '//user:pass@');
  same('basic', echoed(http.get(`${base}/x`), 'authorization'), 'Basic dXNlcjpwYXNz');
  same('asked for', http.get(`${routes}/basic`, { auth: 'basic' }).body, 'welcome');
  same('without', http.get(`${__ENV.ROUTES}/basic`).status, 401);
  const escaped = __ENV.BASE.replace('//', '//us%40er:p%3Ass@');
  same('escaped', echoed(http.get(`${escaped}/x`), 'authorization'), 'Basic dXNAZXI6cDpzcw==');
  const digest = http.get(`${routes}/digest`, { auth: 'digest' });
  same('digest', digest.status, 200);
  const said = Object.fromEntries(
    digest.body
      .slice(7)
      .split(/, ?/)
      .map((it) => {
        const at = it.indexOf('=');
        return [it.slice(0, at), it.slice(at + 1).replace(/"/g, '')];
      }),
  );
  same(
    'said',
    [
      said.username,
      said.realm,
      said.nonce,
      said.uri,
      said.opaque,
      said.qop,
      said.nc,
      /^[0-9a-f]{32}$/.test(said.response),
    ],
    ['user', 'made', 'abc123', '/digest', 'xyz', 'auth', '00000001', true],
  );
  same('its url', digest.url.includes('user'), false);
}
