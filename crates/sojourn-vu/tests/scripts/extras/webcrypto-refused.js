// Row: 8.9 WebCrypto: what is refused and by which name, what is taken that the standard would not
import { b64decode } from 'k6/encoding';
import { same, strict } from '../lib/same.js';

export const options = strict;

const { rsa, ecdh } = JSON.parse(open('../lib/keys.json'));
const bytes = (text) => new Uint8Array(b64decode(text));
const data = new Uint8Array([1, 2, 3]);
const key16 = new Uint8Array(16);
const subtle = crypto.subtle;
const exponent = new Uint8Array([1, 0, 1]);

/** The name of what a promise is rejected with. */
async function refused(title, name, promise) {
  let seen = 'nothing was refused';
  try {
    await promise;
  } catch (error) {
    seen = error.name;
  }
  same(title, seen, name);
}

async function generated() {
  const make = (algorithm, usages) => subtle.generateKey(algorithm, true, usages);
  const pss = { name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 1024, publicExponent: exponent };
  const aes = { name: 'AES-GCM', length: 128 };
  for (const modulusLength of [0, 512, 1023]) {
    await refused(`RSA of ${modulusLength} bits`, 'OperationError', make({ ...pss, modulusLength }, ['sign']));
  }
  for (const part of ['modulusLength', 'publicExponent', 'hash']) {
    await refused(`RSA without ${part}`, 'SyntaxError', make({ ...pss, [part]: undefined }, ['sign']));
  }
  for (const [title, publicExponent] of [['3', new Uint8Array([3])], ['no bytes', [1, 0, 1]]]) {
    await refused(`RSA, exponent ${title}`, 'OperationError', make({ ...pss, publicExponent }, ['sign']));
  }
  await refused('RSA, no such hash', 'NotSupportedError', make({ ...pss, hash: 'MD5' }, ['sign']));
  await refused('RSA, no such use', 'SyntaxError', make(pss, ['encrypt']));
  await refused('RSA of no use', 'SyntaxError', make(pss, []));
  await refused('AES of 64 bits', 'OperationError', make({ ...aes, length: 64 }, ['encrypt']));
  await refused('AES without a length', 'SyntaxError', make({ name: 'AES-GCM' }, ['encrypt']));
  await refused('AES without uses', 'SyntaxError', make(aes));
  await refused('no such algorithm', 'NotSupportedError', make({ name: 'FOO' }, ['encrypt']));
  await refused('no algorithm', 'NotSupportedError', make({}, ['encrypt']));
  await refused('a curve without a name', 'SyntaxError', make({ name: 'ECDSA' }, ['sign']));
  await refused('HMAC without a hash', 'SyntaxError', make({ name: 'HMAC' }, ['sign']));
  const half = await make({ name: 'ECDSA', namedCurve: 'P-256' }, ['verify']);
  same('a half of no use', [half.privateKey.usages.length, half.publicKey.usages.length], [0, 1]);
  same('a length as text', (await make({ ...aes, length: '192' }, ['encrypt'])).algorithm.length, 192);
}

async function imported() {
  const ec = { name: 'ECDSA', namedCurve: 'P-256' };
  const known = ecdh['P-256'];
  const take = (format, it, algorithm, usages) => subtle.importKey(format, it, algorithm, true, usages);
  await refused('no such format', 'ImplementationError', take('foo', key16, 'AES-GCM', ['encrypt']));
  await refused('AES as pkcs8', 'NotSupportedError', take('pkcs8', key16, 'AES-GCM', ['encrypt']));
  await refused('no key', 'TypeError', take('raw', null, 'AES-GCM', ['encrypt']));
  await refused('a key as text', 'OperationError', take('raw', 'aaaaaaaaaaaaaaaa', 'AES-GCM', ['encrypt']));
  await refused('AES of 17 bytes', 'DataError', take('raw', new Uint8Array(17), 'AES-GCM', ['encrypt']));
  await refused('JWK without k', 'DataError', take('jwk', { kty: 'oct' }, 'AES-GCM', ['encrypt']));
  const hmac = { name: 'HMAC', hash: 'SHA-256', length: 120 };
  await refused('HMAC of another length', 'DataError', take('raw', key16, hmac, ['sign']));
  await refused('an RSA key as a curve', 'DataError', take('pkcs8', bytes(rsa.pkcs8), ec, ['sign']));
  await refused('SPKI as raw', 'DataError', take('raw', bytes(known.public), ec, ['verify']));
  await refused('raw as SPKI', 'DataError', take('spki', bytes(known.otherRaw), ec, ['verify']));
  await refused('no such curve', 'NotSupportedError', take('raw', bytes(known.otherRaw), { ...ec, namedCurve: 'P-1' }, ['verify']));
  await refused('a private key of no use', 'SyntaxError', take('pkcs8', bytes(known.pkcs8), ec, []));
  const pss = { name: 'RSA-PSS', hash: 'SHA-256' };
  await refused('a curve as RSA', 'DataError', take('spki', bytes(known.public), pss, ['verify']));
  await refused('RSA as raw', 'NotSupportedError', take('raw', bytes(rsa.spki), pss, ['verify']));
  await refused('RSA without a hash', 'SyntaxError', take('spki', bytes(rsa.spki), 'RSA-PSS', ['verify']));
  const longer = new Uint8Array([...bytes(rsa.spki), 0]);
  await refused('something behind a key', 'DataError', take('spki', longer, pss, ['verify']));
  // The uses of pairs are not looked at.
  const both = await take('spki', bytes(rsa.spki), pss, ['sign', 'verify']);
  same('uses that it has not', both.usages, ['sign', 'verify']);
  await refused('RSA exported as raw', 'NotSupportedError', subtle.exportKey('raw', both));
  await refused('a public key exported as private', 'InvalidAccessError', subtle.exportKey('pkcs8', both));
  const shared = await take('spki', bytes(known.otherSpki), { name: 'ECDH', namedCurve: 'P-256' }, ['deriveBits']);
  same('uses of a public key', shared.usages, ['deriveBits']);
  const hidden = await subtle.importKey('raw', key16, 'AES-GCM', false, ['encrypt']);
  await refused('not extractable', 'InvalidAccessError', subtle.exportKey('foo', hidden));
  const shown = await take('raw', key16, 'AES-GCM', ['encrypt']);
  await refused('exported as foo', 'NotSupportedError', subtle.exportKey('foo', shown));
}

async function computed() {
  const key = await subtle.importKey('raw', key16, 'AES-CBC', true, ['encrypt']);
  const way = { name: 'AES-CBC', iv: key16 };
  await refused('by another algorithm', 'InvalidAccessError', subtle.encrypt({ ...way, name: 'AES-CTR', counter: key16, length: 64 }, key, data));
  await refused('by one that signs', 'NotSupportedError', subtle.encrypt({ ...way, name: 'HMAC' }, key, data));
  await refused('signed by one that encrypts', 'NotSupportedError', subtle.sign('AES-CBC', key, data));
  await refused('without an iv', 'OperationError', subtle.encrypt({ name: 'AES-CBC' }, key, data));
  await refused('a text', 'OperationError', subtle.encrypt(way, key, 'text'));
  await refused('not its use', 'InvalidAccessError', subtle.decrypt(way, key, key16));
  const iv = 'aaaaaaaaaaaaaaaa';
  const [byText, byBytes] = [iv, new Uint8Array(16).fill(97)].map((it) => subtle.encrypt({ ...way, iv: it }, key, data));
  const hex = (buffer) => Array.from(new Uint8Array(buffer)).join();
  same('an iv as text', hex(await byText), hex(await byBytes));

  const pss = { name: 'RSA-PSS', hash: 'SHA-512' };
  const own = await subtle.importKey('pkcs8', bytes(rsa.pkcs8), pss, true, ['sign']);
  const others = await subtle.importKey('spki', bytes(rsa.spki), pss, true, ['verify']);
  await refused('PSS without a salt', 'SyntaxError', subtle.sign('RSA-PSS', own, data));
  for (const saltLength of [191, 500, -2]) {
    await refused(`PSS, salt ${saltLength}`, 'OperationError', subtle.sign({ name: 'RSA-PSS', saltLength }, own, data));
    const held = await subtle.verify({ name: 'RSA-PSS', saltLength }, others, new Uint8Array(256), data);
    same(`PSS, salt ${saltLength} verified`, held, false);
  }
  const curve = { name: 'ECDSA', namedCurve: 'P-256' };
  const signs = await subtle.importKey('pkcs8', bytes(ecdh['P-256'].pkcs8), curve, true, ['sign']);
  await refused('ECDSA without a hash', 'SyntaxError', subtle.sign('ECDSA', signs, data));
  await refused('ECDSA, no such hash', 'NotSupportedError', subtle.sign({ name: 'ECDSA', hash: 'MD5' }, signs, data));

  const password = await subtle.importKey('raw', data, 'PBKDF2', false, ['deriveBits']);
  const derived = { name: 'PBKDF2', hash: 'SHA-256', salt: 'salt', iterations: 2 };
  same('a salt as text', (await subtle.deriveBits(derived, password, 128)).byteLength, 16);
  await refused('12 bits', 'OperationError', subtle.deriveBits(derived, password, 12));
  await refused('no iterations', 'OperationError', subtle.deriveBits({ ...derived, iterations: 0 }, password, 128));
  await refused('no salt', 'TypeError', subtle.deriveBits({ ...derived, salt: undefined }, password, 128));
  await refused('bits by AES', 'NotSupportedError', subtle.deriveBits({ name: 'AES-CBC' }, password, 128));
}

export default async function () {
  await generated();
  await imported();
  await computed();
  for (const name of ['wrapKey', 'unwrapKey']) {
    let seen = 'a promise';
    try {
      subtle[name]('raw');
    } catch (error) {
      seen = error.message.includes('not implemented');
    }
    same(`${name} throws`, seen, true);
  }
}
