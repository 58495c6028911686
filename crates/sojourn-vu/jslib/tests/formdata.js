import encoding from 'k6/encoding';
import http from 'k6/http';
import { FormData } from '../formdata.js';
import { done, holds, options, same } from './compare.js';

export { options };

export default function () {
  const form = new FormData();
  form.append('field', 'value é');
  form.append('again', 1);
  form.append('again', 2);
  form.append('file', http.file('content', 'a "b".txt', 'text/plain'));
  form.append('bytes', http.file(new Uint8Array([0, 255]).buffer, 'c.bin'));
  const body = form.body();
  holds('an ArrayBuffer', body instanceof ArrayBuffer);
  const text = encoding.b64decode(
    encoding.b64encode(new Uint8Array(body).slice(0, body.byteLength).buffer),
    'std',
    's',
  );
  const parts = text.split(`--${form.boundary}`);
  same('parts', parts.length, 7);
  same('a field', parts[1], '\r\nContent-Disposition: form-data; name="field"\r\n\r\nvalue é\r\n');
  same(
    'in order',
    [parts[2], parts[3]].map((it) => it.slice(-3, -2)),
    ['1', '2'],
  );
  same(
    'a file',
    parts[4],
    '\r\nContent-Disposition: form-data; name="file"; filename="a %22b%22.txt"\r\n' +
      'Content-Type: text/plain\r\n\r\ncontent\r\n',
  );
  same('end', parts[6], '--\r\n');
  holds('a type', form.contentType().endsWith(form.boundary));
  holds('a boundary of its own', new FormData().boundary !== form.boundary);
  done();
}
