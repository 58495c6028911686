// Row: 8.9 WebCrypto: random values, digests, HMAC (RFC 4231), AES (NIST SP 800-38A and GCM's cases), PBKDF2 (RFC 7914)
import { same, strict } from '../lib/same.js';

export const options = strict;

const bytes = (hex) => new Uint8Array(hex.match(/../g).map((it) => parseInt(it, 16)));
const hex = (buffer) =>
  Array.from(new Uint8Array(buffer), (it) => it.toString(16).padStart(2, '0')).join('');
const utf8 = (text) => new Uint8Array(Array.from(text, (it) => it.charCodeAt(0)));

export default async function () {
  const array = crypto.getRandomValues(new Uint8Array(16));
  same('random values', [array.length, array.some((it) => it !== 0)], [16, true]);
  same(
    'random UUID',
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(
      crypto.randomUUID(),
    ),
    true,
  );
  const digests = {
    'SHA-1': 'a9993e364706816aba3e25717850c26c9cd0d89d',
    'SHA-256': 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    'SHA-384':
      'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7',
  };
  for (const name of Object.keys(digests))
    same(name, hex(await crypto.subtle.digest(name, utf8('abc'))), digests[name]);

  const key = await crypto.subtle.importKey(
    'raw',
    utf8('Jefe'),
    { name: 'HMAC', hash: 'SHA-256' },
    true,
    ['sign', 'verify'],
  );
  same(
    'a key',
    [key.type, key.extractable, key.algorithm.name, key.usages.slice().sort()],
    ['secret', true, 'HMAC', ['sign', 'verify']],
  );
  const data = utf8('what do ya want for nothing?');
  const signature = await crypto.subtle.sign('HMAC', key, data);
  same('HMAC', hex(signature), '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843');
  same('verified', await crypto.subtle.verify('HMAC', key, signature, data), true);
  same('exported', hex(await crypto.subtle.exportKey('raw', key)), '4a656665');

  const aes = bytes('2b7e151628aed2a6abf7158809cf4f3c');
  const block = bytes('6bc1bee22e409f96e93d7e117393172a');
  const counter = bytes('f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff');
  const ctr = await crypto.subtle.importKey('raw', aes, { name: 'AES-CTR' }, false, [
    'encrypt',
    'decrypt',
  ]);
  same(
    'AES-CTR',
    hex(await crypto.subtle.encrypt({ name: 'AES-CTR', counter, length: 128 }, ctr, block)),
    '874d6191b620e3261bef6864990db6ce',
  );
  const cbc = await crypto.subtle.importKey('raw', aes, { name: 'AES-CBC' }, false, [
    'encrypt',
    'decrypt',
  ]);
  const iv = bytes('000102030405060708090a0b0c0d0e0f');
  const sealed = await crypto.subtle.encrypt({ name: 'AES-CBC', iv }, cbc, block);
  same('AES-CBC', hex(sealed).slice(0, 32), '7649abac8119b246cee98e9b12e9197d');
  same(
    'and back',
    hex(await crypto.subtle.decrypt({ name: 'AES-CBC', iv }, cbc, sealed)),
    hex(block),
  );
  const gcm = await crypto.subtle.importKey('raw', new Uint8Array(16), { name: 'AES-GCM' }, false, [
    'encrypt',
    'decrypt',
  ]);
  same(
    'AES-GCM',
    hex(
      await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv: new Uint8Array(12) },
        gcm,
        new Uint8Array(16),
      ),
    ),
    '0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf',
  );

  const password = await crypto.subtle.importKey('raw', utf8('passwd'), 'PBKDF2', false, [
    'deriveBits',
  ]);
  same(
    'PBKDF2',
    hex(
      await crypto.subtle.deriveBits(
        { name: 'PBKDF2', hash: 'SHA-256', salt: utf8('salt'), iterations: 1 },
        password,
        512,
      ),
    ),
    '55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc' +
      '49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783',
  );
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  const signed = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    pair.privateKey,
    data,
  );
  same(
    'ECDSA',
    [
      signed.byteLength,
      await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, pair.publicKey, signed, data),
    ],
    [64, true],
  );
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey);
  same('JWK', [jwk.kty, jwk.crv], ['EC', 'P-256']);
  let refused = '';
  try {
    await crypto.subtle.exportKey('raw', gcm);
  } catch (error) {
    refused = error.name;
  }
  same('not exported', refused, 'InvalidAccessError');
}
