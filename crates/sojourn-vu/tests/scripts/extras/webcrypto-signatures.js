// Row: 8.9 WebCrypto: RSA signatures by any hash and salt, ECDSA by any hash on any curve, against what OpenSSL made of the same keys
import { sleep } from 'k6';
import { b64decode, b64encode } from 'k6/encoding';
import { same, strict } from '../lib/same.js';

export const options = strict;

const { rsa, ecdh } = JSON.parse(open('../lib/keys.json'));
const bytes = (text) => new Uint8Array(b64decode(text));
const data = new Uint8Array(Array.from(rsa.data, (it) => it.charCodeAt(0)));
const other = new Uint8Array([1]);
const subtle = crypto.subtle;
const HASHES = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
const after = (hash) => HASHES[(HASHES.indexOf(hash) + 1) % HASHES.length];

async function pair(algorithm, { pkcs8, spki }) {
  const privateKey = await subtle.importKey('pkcs8', bytes(pkcs8), algorithm, true, ['sign']);
  const publicKey = await subtle.importKey('spki', bytes(spki), algorithm, true, ['verify']);
  return { privateKey, publicKey };
}

/** Whether it holds: as it is, of another text, and changed in one bit. */
async function holds(way, key, signature) {
  const changed = signature.slice();
  changed[40] ^= 4;
  const all = [];
  for (const [made, text] of [[signature, data], [signature, other], [changed, data]]) {
    all.push(await subtle.verify(way, key, made, text));
  }
  return all;
}
const YES = [true, false, false];

async function pkcs1(title, keys, hash, signed) {
  const name = 'RSASSA-PKCS1-v1_5';
  const { privateKey, publicKey } = await pair({ name, hash }, keys);
  same(`${title} ${hash}`, b64encode(await subtle.sign(name, privateKey, data)), signed);
  same(`${title} ${hash} verified`, await holds(name, publicKey, bytes(signed)), YES);
  const byAnother = (await pair({ name, hash: after(hash) }, keys)).publicKey;
  same(`${title} ${hash} by another hash`, await subtle.verify(name, byAnother, bytes(signed), data), false);
}

async function pss(title, keys, hash, salted) {
  const name = 'RSA-PSS';
  const { privateKey, publicKey } = await pair({ name, hash }, keys);
  const byAnother = (await pair({ name, hash: after(hash) }, keys)).publicKey;
  for (const [length, signed] of Object.entries(salted)) {
    const way = { name, saltLength: Number(length) };
    const own = new Uint8Array(await subtle.sign(way, privateKey, data));
    same(`${title} ${hash} ${length}`, await holds(way, publicKey, own), YES);
    same(`${title} ${hash} ${length} of OpenSSL`, await holds(way, publicKey, bytes(signed)), YES);
    const longer = { name, saltLength: way.saltLength + 1 };
    const wrong = [await subtle.verify(longer, publicKey, own, data), await subtle.verify(way, byAnother, own, data)];
    same(`${title} ${hash} ${length}: another salt, another hash`, wrong, [false, false]);
  }
}

async function curve(namedCurve, known) {
  const { privateKey, publicKey } = await pair({ name: 'ECDSA', namedCurve }, { pkcs8: known.pkcs8, spki: known.public });
  for (const hash of HASHES) {
    const way = { name: 'ECDSA', hash };
    const made = bytes(known.byHash[hash]);
    same(`${namedCurve} ${hash} of OpenSSL`, await holds(way, publicKey, made), YES);
    const own = new Uint8Array(await subtle.sign(way, privateKey, data));
    same(`${namedCurve} ${hash}`, [own.length, await holds(way, publicKey, own)], [made.length, YES]);
    const wrong = [];
    for (const it of [own.slice(1), new Uint8Array([...own, 0]), new Uint8Array(own.length), new Uint8Array(0)]) {
      wrong.push(await subtle.verify(way, publicKey, it, data));
    }
    wrong.push(await subtle.verify({ name: 'ECDSA', hash: after(hash) }, publicKey, own, data));
    same(`${namedCurve} ${hash}: what is none`, wrong, [false, false, false, false, false]);
  }
}

export default async function () {
  for (const hash of HASHES) {
    await pkcs1('PKCS1', rsa, hash, rsa.signed[hash]);
    await pkcs1('PKCS1 of 1024 bits', rsa.small, hash, rsa.small.signed[hash]);
    await pss('PSS', rsa, hash, rsa.salted[hash]);
    await pss('PSS of 1024 bits', rsa.small, hash, { 20: rsa.small.pss[hash] });
  }
  for (const namedCurve of Object.keys(ecdh)) await curve(namedCurve, ecdh[namedCurve]);

  const { privateKey, publicKey } = await pair({ name: 'RSA-PSS', hash: 'SHA-384' }, rsa);
  const signed = await subtle.sign({ name: 'RSA-PSS', saltLength: -1 }, privateKey, data);
  same('-1 is a salt as long as the digest', await subtle.verify({ name: 'RSA-PSS', saltLength: 48 }, publicKey, signed, data), true);
  for (const modulusLength of [1024, 3072]) {
    const algorithm = { name: 'RSA-PSS', hash: 'SHA-1', modulusLength, publicExponent: new Uint8Array([1, 0, 1]) };
    const keys = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const way = { name: 'RSA-PSS', saltLength: 20 };
    const made = new Uint8Array(await subtle.sign(way, keys.privateKey, data));
    same(`a new key of ${modulusLength} bits`, [made.length * 8, await holds(way, keys.publicKey, made)], [modulusLength, YES]);
  }
  // Keys take their time or not: users are counted from the first second on.
  sleep(1.1);
}
