// Row: 8.9 WebCrypto: ECDH and ECDSA on P-256, P-384 and P-521, against what OpenSSL made of the same keys
import { b64decode, b64encode } from 'k6/encoding';
import { same, strict } from '../lib/same.js';

export const options = strict;

const { ecdh, rsa } = JSON.parse(open('../lib/keys.json'));
const bytes = (text) => new Uint8Array(b64decode(text));
const hex = (buffer) =>
  Array.from(new Uint8Array(buffer), (it) => it.toString(16).padStart(2, '0')).join('');
const data = new Uint8Array(Array.from(rsa.data, (it) => it.charCodeAt(0)));
const subtle = crypto.subtle;
const HASHES = { 'P-256': 'SHA-256', 'P-384': 'SHA-384', 'P-521': 'SHA-512' };
/** Whole bytes of a coordinate, in bits. */
const BITS = { 'P-256': 256, 'P-384': 384, 'P-521': 528 };

async function exchange(namedCurve, known) {
  const algorithm = { name: 'ECDH', namedCurve };
  const byPkcs8 = await subtle.importKey('pkcs8', bytes(known.pkcs8), algorithm, true, ['deriveBits', 'deriveKey']);
  const byJwk = await subtle.importKey('jwk', { ...known.jwk, ext: true }, algorithm, true, ['deriveBits']);
  const byRaw = await subtle.importKey('raw', bytes(known.otherRaw), algorithm, true, []);
  const bySpki = await subtle.importKey('spki', bytes(known.otherSpki), algorithm, true, []);
  const bits = BITS[namedCurve];
  for (const [name, own, other] of [['pkcs8 and raw', byPkcs8, byRaw], ['JWK and spki', byJwk, bySpki]]) {
    const secret = await subtle.deriveBits({ name: 'ECDH', public: other }, own, bits);
    same(`${namedCurve}: ${name}`, hex(secret), known.secret);
  }
  same(`${namedCurve}: a part`, hex(await subtle.deriveBits({ name: 'ECDH', public: byRaw }, byPkcs8, 128)), known.secret.slice(0, 32));
  same(`${namedCurve}: raw out again`, b64encode(await subtle.exportKey('raw', bySpki)), known.otherRaw);
  const jwk = await subtle.exportKey('jwk', byPkcs8);
  same(`${namedCurve}: JWK out again`, [jwk.crv, jwk.x, jwk.y, jwk.d], [namedCurve, known.jwk.x, known.jwk.y, known.jwk.d]);

  const pairs = [];
  for (let number = 0; number < 2; number++) {
    pairs.push(await subtle.generateKey(algorithm, true, ['deriveBits', 'deriveKey']));
  }
  const shared = (own, other) => subtle.deriveBits({ name: 'ECDH', public: other.publicKey }, own.privateKey, bits);
  same(`${namedCurve}: both have the same`, hex(await shared(pairs[0], pairs[1])), hex(await shared(pairs[1], pairs[0])));
}

async function signatures(namedCurve, known) {
  const algorithm = { name: 'ECDSA', namedCurve };
  const way = { name: 'ECDSA', hash: HASHES[namedCurve] };
  const own = await subtle.importKey('pkcs8', bytes(known.pkcs8), algorithm, true, ['sign']);
  const others = await subtle.importKey('spki', bytes(known.public), algorithm, true, ['verify']);
  same(`${namedCurve}: signed by OpenSSL`, await subtle.verify(way, others, bytes(known.signed), data), true);
  const signed = await subtle.sign(way, own, data);
  const size = BITS[namedCurve] / 4;
  same(`${namedCurve}: signed`, [signed.byteLength, await subtle.verify(way, others, signed, data)], [size, true]);
  const other = new Uint8Array(signed.byteLength);
  same(`${namedCurve}: another signature`, await subtle.verify(way, others, other, data), false);
}

export default async function () {
  for (const namedCurve of Object.keys(ecdh)) {
    await exchange(namedCurve, ecdh[namedCurve]);
    await signatures(namedCurve, ecdh[namedCurve]);
  }
  let refused = '';
  try {
    await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-192' }, true, ['deriveBits']);
  } catch (error) {
    refused = error.name;
  }
  same('no such curve', refused, 'NotSupportedError');
}
