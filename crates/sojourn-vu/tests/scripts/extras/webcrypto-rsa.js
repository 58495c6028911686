// Row: 8.9 WebCrypto: RSASSA-PKCS1-v1_5, RSA-PSS and RSA-OAEP, against what OpenSSL made of the same keys
import { b64decode, b64encode } from 'k6/encoding';
import { same, strict } from '../lib/same.js';

export const options = strict;

const { rsa } = JSON.parse(open('../lib/keys.json'));
const bytes = (text) => new Uint8Array(b64decode(text));
const utf8 = (text) => new Uint8Array(Array.from(text, (it) => it.charCodeAt(0)));
const data = utf8(rsa.data);
const subtle = crypto.subtle;

/** Both halves of the key, for an algorithm with a hash. */
async function pair(name, hash, [own, others]) {
  const algorithm = { name, hash };
  const privateKey = await subtle.importKey('pkcs8', bytes(rsa.pkcs8), algorithm, true, [own]);
  const publicKey = await subtle.importKey('spki', bytes(rsa.spki), algorithm, true, [others]);
  return { privateKey, publicKey };
}

export default async function () {
  for (const hash of ['SHA-256', 'SHA-384', 'SHA-512']) {
    const { privateKey, publicKey } = await pair('RSASSA-PKCS1-v1_5', hash, ['sign', 'verify']);
    const signed = await subtle.sign('RSASSA-PKCS1-v1_5', privateKey, data);
    same(`PKCS1 ${hash}`, b64encode(signed), rsa.signed[hash]);
    same(`PKCS1 ${hash} verified`, await subtle.verify('RSASSA-PKCS1-v1_5', publicKey, signed, data), true);
    same(`PKCS1 ${hash} of other data`, await subtle.verify('RSASSA-PKCS1-v1_5', publicKey, signed, utf8('x')), false);
  }
  for (const [hash, saltLength] of [['SHA-256', 32], ['SHA-512', 64]]) {
    const { privateKey, publicKey } = await pair('RSA-PSS', hash, ['sign', 'verify']);
    const way = { name: 'RSA-PSS', saltLength };
    same(`PSS ${hash} of OpenSSL`, await subtle.verify(way, publicKey, bytes(rsa.pss[hash]), data), true);
    const signed = await subtle.sign(way, privateKey, data);
    same(`PSS ${hash}`, [signed.byteLength, await subtle.verify(way, publicKey, signed, data)], [256, true]);
    same(`PSS ${hash} of other data`, await subtle.verify(way, publicKey, signed, utf8('x')), false);
  }
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-512']) {
    const { privateKey, publicKey } = await pair('RSA-OAEP', hash, ['decrypt', 'encrypt']);
    const open = await subtle.decrypt({ name: 'RSA-OAEP' }, privateKey, bytes(rsa.oaep[hash]));
    same(`OAEP ${hash} of OpenSSL`, b64encode(open), b64encode(data.buffer));
    const sealed = await subtle.encrypt({ name: 'RSA-OAEP' }, publicKey, data);
    same(`OAEP ${hash}`, b64encode(await subtle.decrypt({ name: 'RSA-OAEP' }, privateKey, sealed)), b64encode(data.buffer));
  }

  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const byJwk = await subtle.importKey('jwk', { ...rsa.jwk, alg: 'RS256', ext: true }, algorithm, true, ['sign']);
  same('by JWK', b64encode(await subtle.sign(algorithm.name, byJwk, data)), rsa.signed['SHA-256']);
  same('private out again', b64encode(await subtle.exportKey('pkcs8', byJwk)), rsa.pkcs8);
  const { publicKey } = await pair('RSASSA-PKCS1-v1_5', 'SHA-256', ['sign', 'verify']);
  same('public out again', b64encode(await subtle.exportKey('spki', publicKey)), rsa.spki);
  const jwk = await subtle.exportKey('jwk', publicKey);
  same('public as JWK', [jwk.kty, jwk.n, jwk.e], ['RSA', rsa.jwk.n, rsa.jwk.e]);

  const made = await subtle.generateKey(
    { name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
    true,
    ['sign', 'verify'],
  );
  same('made', [made.privateKey.type, made.publicKey.type, made.privateKey.algorithm.name], ['private', 'public', 'RSA-PSS']);
  const way = { name: 'RSA-PSS', saltLength: 32 };
  const signed = await subtle.sign(way, made.privateKey, data);
  same('signed by it', await subtle.verify(way, made.publicKey, signed, data), true);
  let refused = '';
  try {
    await subtle.sign(way, made.publicKey, data);
  } catch (error) {
    refused = error.name;
  }
  same('not signed by the other half', refused, 'InvalidAccessError');
}
