// Row: 8.9 WebCrypto: RSA signatures by SHA-1; ECDSA by another hash than is usual for its curve
import { b64decode, b64encode } from 'k6/encoding';
import { same, strict } from '../lib/same.js';

export const options = strict;

const { rsa, ecdh } = JSON.parse(open('../lib/keys.json'));
const bytes = (text) => new Uint8Array(b64decode(text));
const data = new Uint8Array(Array.from(rsa.data, (it) => it.charCodeAt(0)));
const subtle = crypto.subtle;

export default async function () {
  const name = 'RSASSA-PKCS1-v1_5';
  const key = await subtle.importKey('pkcs8', bytes(rsa.pkcs8), { name, hash: 'SHA-1' }, true, ['sign']);
  same('RSA and SHA-1', b64encode(await subtle.sign(name, key, data)), rsa.signed['SHA-1']);
  const hashes = { 'P-256': 'SHA-384', 'P-384': 'SHA-256', 'P-521': 'SHA-256' };
  for (const namedCurve of Object.keys(hashes)) {
    const known = ecdh[namedCurve];
    const algorithm = { name: 'ECDSA', namedCurve };
    const others = await subtle.importKey('spki', bytes(known.public), algorithm, true, ['verify']);
    const way = { name: 'ECDSA', hash: hashes[namedCurve] };
    const verified = await subtle.verify(way, others, bytes(known.signedOther), data);
    same(`${namedCurve} and ${hashes[namedCurve]}`, verified, true);
  }
}
