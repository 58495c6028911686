// Row: 8.5 params.auth digest: with a body, and where nobody asks
import http from 'k6/http';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const routes = __ENV.ROUTES.replace('//', '//user:p%40ss@');
  const sent = http.post(`${routes}/digest`, 'a body', { auth: 'digest', tags: { name: 'post' } });
  same('with a body', [sent.status, sent.body.includes('username="user"')], [200, true]);
  const open = http.get(`${routes}/status/204`, { auth: 'digest', tags: { name: 'open' } });
  same('not asked', open.status, 204);
}
