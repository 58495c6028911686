// Row: 8.5 Response.remote_ip, remote_port, tls_version, ocsp; the tags ip and ocsp_status
// Args: --system-tags check,expected_response,group,ip,name,ocsp_status,tls_version
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = { insecureSkipTLSVerify: true, thresholds: { checks: ['rate==1'] } };

export default function () {
  const port = Number(__ENV.BASE.split(':')[2]);
  const plain = http.get(__ENV.BASE.replace('127.0.0.1', 'localhost'), { tags: { name: 'plain' } });
  same('by name', [plain.remote_ip, plain.remote_port], ['127.0.0.1', port]);
  same('no TLS', [plain.tls_version, plain.tls_cipher_suite, plain.ocsp.status], ['', '', '']);
  const secure = http.get(`${__ENV.TLS}/x`, { tags: { name: 'secure' } });
  same(
    'TLS',
    [secure.remote_ip, secure.tls_version, secure.ocsp.status],
    ['127.0.0.1', 'tls1.3', 'unknown'],
  );
  same('its suite', secure.tls_cipher_suite.startsWith('TLS_'), true);
  const nobody = http.get('http://127.0.0.1:1/', { tags: { name: 'nobody' } });
  same('nobody', [nobody.remote_ip, nobody.remote_port, nobody.tls_version], ['', 0, '']);
}
