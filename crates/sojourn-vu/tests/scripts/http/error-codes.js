// Row: 8.5 error codes
import http from 'k6/http';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const told = (url, params) => {
    const response = http.get(url, params);
    console.log(response.error.replace(/:\d{4,5}/g, ':PORT'));
    return [response.status, response.error_code];
  };
  same('refused', told('http://127.0.0.1:1/'), [0, 1212]);
  same('400', told(`${__ENV.BASE}/x?status=400`), [400, 1400]);
  same('404', told(`${__ENV.BASE}/x?status=404`), [404, 1404]);
  same('503', told(`${__ENV.BASE}/x?status=503`), [503, 1503]);
  same('closed without an answer', told(`${__ENV.BASE}/do-not-respond`)[0], 0);
  same('a timeout', told(`${__ENV.ROUTES}/slow`, { timeout: 100 }), [0, 1050]);
  same('a plain answer to TLS', told(__ENV.ROUTES.replace('http:', 'https:'))[0], 0);
}
