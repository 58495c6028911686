// Row: 8.3 tlsCipherSuites
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = {
  insecureSkipTLSVerify: true,
  tlsVersion: { min: 'tls1.2', max: 'tls1.2' },
  tlsCipherSuites: [
    'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
    'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  ],
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const response = http.get(`${__ENV.TLS}/x509/inspect`);
  const suite = response.tls_cipher_suite;
  same('the one that the target can', suite, 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384');
  console.log(JSON.stringify(options.tlsCipherSuites));
}
