// Row: 8.3 hosts: names and addresses of one's own
import http from 'k6/http';
import { echoed, same } from '../lib/same.js';

const port = __ENV.BASE.split(':')[2];

export const options = {
  hosts: {
    'made.up.test': '127.0.0.1',
    'other.test': `127.0.0.1:${port}`,
    '*.wild.test': '127.0.0.1',
    'ported.test:81': `127.0.0.1:${port}`,
  },
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const host = (url) => {
    const response = http.get(url);
    return response.status === 200 ? echoed(response, 'host') : response.error_code;
  };
  same('a name', host(`http://made.up.test:${port}/`), `made.up.test:${port}`);
  same('with a port', host('http://other.test/'), 'other.test');
  same('a pattern', host(`http://a.b.wild.test:${port}/`), `a.b.wild.test:${port}`);
  same('a port of its own', host('http://ported.test:81/'), 'ported.test:81');
}
