// Row: 8.3 tlsAuth: the first certificate that the server takes
import http from 'k6/http';
import { same } from '../lib/same.js';

const read = (name) => open(`../lib/certificates/${name}`);

export const options = {
  insecureSkipTLSVerify: true,
  tlsAuth: [
    { cert: read('one.crt'), key: read('encrypted.key'), password: 'secret' },
    { cert: read('two.crt'), key: read('two.key') },
  ],
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  same('who', http.get(`${__ENV.SECURE}/certificate`).body, 'two');
  const named = __ENV.SECURE.replace('127.0.0.1', 'localhost');
  const response = http.get(`${named}/certificate`, { tags: { name: 'named' } });
  same('by name too', response.body, 'two');
}
