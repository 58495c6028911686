// Row: 8.5 multipart bodies by http.file
import http from 'k6/http';
import { echoed, echoedBody, same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const file = http.file('the content', 'a.txt', 'text/plain');
  same(
    'a file',
    [file.data, file.filename, file.content_type],
    ['the content', 'a.txt', 'text/plain'],
  );
  const plain = http.file(new Uint8Array([104, 105]).buffer);
  same(
    'defaults',
    [/^\d+$/.test(plain.filename), plain.content_type],
    [true, 'application/octet-stream'],
  );
  const response = http.post(`${__ENV.BASE}/x`, {
    field: 'value',
    file,
    bytes: http.file('b', 'b.bin'),
  });
  const kind = echoed(response, 'content-type');
  same('type', /^multipart\/form-data; boundary=\w+$/.test(kind), true);
  const parts = echoedBody(response).split(`--${kind.split('=')[1]}`);
  same(
    'parts',
    parts
      .slice(1, -1)
      .map((it) => it.trim().replace(/\r\n/g, '|'))
      .sort(),
    [
      'Content-Disposition: form-data; name="bytes"; filename="b.bin"|Content-Type: application/octet-stream||b',
      'Content-Disposition: form-data; name="field"||value',
      'Content-Disposition: form-data; name="file"; filename="a.txt"|Content-Type: text/plain||the content',
    ],
  );
  same('end', parts[parts.length - 1], '--\r\n');
}
