// Row: 8.5 answers in br, zstd, several codings, one that nobody knows
import http from 'k6/http';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const base = __ENV.WS.replace('ws:', 'http:');
  for (const coding of ['br', 'zstd', 'gzip, br', 'unheard']) {
    const response = http.get(`${base}/coded/${encodeURIComponent(coding)}`);
    same(coding, [response.body, response.error_code], ['in any coding', 0]);
  }
  const plain = http.get(`${base}/coded/br`, { responseType: 'none' });
  same('not kept', [plain.status, plain.body], [200, null]);
}
