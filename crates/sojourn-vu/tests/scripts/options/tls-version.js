// Row: 8.3 tlsVersion
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = {
  insecureSkipTLSVerify: true,
  tlsVersion: 'tls1.2',
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const response = http.get(`${__ENV.TLS}/x509/inspect`);
  same('version', response.tls_version, http.TLS_1_2);
}
