// Row: 8.5 params.compression; answers are decompressed
import http from 'k6/http';
import { echoed, same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const url = `${__ENV.BASE}/x`;
  const text = 'aaaaaaaaaa'.repeat(100);
  for (const compression of ['gzip', 'deflate', 'br', 'zstd', 'gzip, deflate']) {
    const response = http.post(url, text, { compression });
    same(
      `sent as ${compression}`,
      [echoed(response, 'content-encoding'), Number(echoed(response, 'content-length')) < 200],
      [compression, true],
    );
    same('its request body is plain', response.request.body, text);
  }
  for (const coding of ['gzip', 'deflate']) {
    const response = http.get(`${__ENV.BASE}/data/test.json`, {
      headers: { 'Accept-Encoding': coding },
    });
    same(
      `received as ${coding}`,
      [response.headers['Content-Encoding'], typeof response.json()],
      [coding, 'object'],
    );
  }
  same('not asked for', echoed(http.get(url), 'accept-encoding'), undefined);
}
