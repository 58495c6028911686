// Row: 8.6 k6/crypto: HMAC by the vectors of RFC 4231 and RFC 2202
import { createHMAC, hmac } from 'k6/crypto';
import { same, strict } from '../lib/same.js';

export const options = strict;

const filled = (byte, length) => new Uint8Array(length).fill(byte).buffer;

export default function () {
  const one = filled(0x0b, 20);
  same(
    'RFC 4231, 1, sha256',
    hmac('sha256', one, 'Hi There', 'hex'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  );
  same(
    'RFC 4231, 1, sha384',
    hmac('sha384', one, 'Hi There', 'hex'),
    'afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59c' +
      'faea9ea9076ede7f4af152e8b2fa9cb6',
  );
  same(
    'RFC 4231, 2, sha256',
    hmac('sha256', 'Jefe', 'what do ya want for nothing?', 'hex'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
  same(
    'RFC 4231, 3, sha256',
    hmac('sha256', filled(0xaa, 20), filled(0xdd, 50), 'hex'),
    '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
  );
  same(
    'RFC 4231, 6, sha256',
    hmac(
      'sha256',
      filled(0xaa, 131),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      'hex',
    ),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  );
  same(
    'RFC 2202, 2, md5',
    hmac('md5', 'Jefe', 'what do ya want for nothing?', 'hex'),
    '750c783e6ab0b503eaa86e310a5db738',
  );
  same(
    'RFC 2202, 2, sha1',
    hmac('sha1', 'Jefe', 'what do ya want for nothing?', 'hex'),
    'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79',
  );
  const pieces = createHMAC('sha256', 'Jefe');
  pieces.update('what do ya want ');
  pieces.update('for nothing?');
  same('in pieces', pieces.digest('base64'), 'W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=');
}
