// Row: 8.6 k6/encoding, by the vectors of RFC 4648
import encoding, { b64decode, b64encode } from 'k6/encoding';
import { same, strict, throws } from '../lib/same.js';

export const options = strict;

const vectors = [
  ['', ''],
  ['f', 'Zg=='],
  ['fo', 'Zm8='],
  ['foo', 'Zm9v'],
  ['foob', 'Zm9vYg=='],
  ['fooba', 'Zm9vYmE='],
  ['foobar', 'Zm9vYmFy'],
];

export default function () {
  for (const [plain, coded] of vectors) {
    same(`encode ${plain}`, b64encode(plain), coded);
    same(`raw ${plain}`, b64encode(plain, 'rawstd'), coded.replace(/=/g, ''));
    same(`decode ${coded}`, b64decode(coded, 'std', 's'), plain);
    same(`raw ${coded}`, b64decode(coded.replace(/=/g, ''), 'rawstd', 's'), plain);
  }
  const bytes = new Uint8Array([251, 255, 191]);
  same('std', b64encode(bytes.buffer), '+/+/');
  same('url', b64encode(bytes.buffer, 'url'), '-_-_');
  same('rawurl', b64encode(new Uint8Array([251]).buffer, 'rawurl'), '-w');
  const decoded = b64decode('-_-_', 'url');
  same(
    'bytes',
    [decoded instanceof ArrayBuffer, ...new Uint8Array(decoded)],
    [true, 251, 255, 191],
  );
  same('text by utf-8', b64decode(b64encode('aé€'), 'std', 's'), 'aé€');
  same('default object', encoding.b64encode('a'), 'YQ==');
  throws('not base64', () => b64decode('a*b='), 'illegal base64');
}
