// Row: 8.5 responseType
import http from 'k6/http';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const url = `${__ENV.BASE}/respond-with/bytes?size=300`;
  const binary = http.get(url, { responseType: 'binary' });
  same('binary', [binary.body instanceof ArrayBuffer, binary.body.byteLength], [true, 300]);
  same('none', http.get(url, { responseType: 'none' }).body, null);
  same('text', typeof http.get(url, { responseType: 'text' }).body, 'string');
  const json = http.get(`${__ENV.BASE}/data/test.json`, { responseType: 'binary' });
  same('json of bytes', typeof json.json(), 'object');
  try {
    http.get(url, { responseType: 'other' });
  } catch (error) {
    console.log(String(error));
  }
}
