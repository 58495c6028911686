// Row: 8.3 insecureSkipTLSVerify
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = { insecureSkipTLSVerify: true, thresholds: { checks: ['rate==1'] } };

export default function () {
  const response = http.get(`${__ENV.TLS}/x509/inspect`);
  same('answered', response.status, 200);
  same('version', response.tls_version, 'tls1.3');
  same('suite', typeof response.tls_cipher_suite, 'string');
  same('proto', response.proto, 'HTTP/2.0');
}
