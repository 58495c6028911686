// Row: 8.6 k6/crypto: digests by the vectors of FIPS 180 and RFC 1321, 1320, and of RIPEMD-160's authors
import crypto from 'k6/crypto';
import { same, strict } from '../lib/same.js';

export const options = strict;

const digests = {
  md4: 'a448017aaf21d8525fc10ae87aa6729d',
  md5: '900150983cd24fb0d6963f7d28e17f72',
  sha1: 'a9993e364706816aba3e25717850c26c9cd0d89d',
  sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  sha384:
    'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed' +
    '8086072ba1e7cc2358baeca134c825a7',
  sha512:
    'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a' +
    '2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
  sha512_224: '4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa',
  sha512_256: '53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23',
  ripemd160: '8eb208f7e05d987a9b044a8e98c6b087f15a0bfc',
};

export default function () {
  for (const name of Object.keys(digests)) {
    same(name, crypto[name]('abc', 'hex'), digests[name]);
    same(
      `${name} of bytes`,
      crypto[name](new Uint8Array([97, 98, 99]).buffer, 'hex'),
      digests[name],
    );
    const hasher = crypto.createHash(name);
    hasher.update('a');
    hasher.update('bc');
    same(`${name} in pieces`, hasher.digest('hex'), digests[name]);
  }
  same('base64', crypto.sha1('abc', 'base64'), 'qZk+NkcGgWq6PiVxeFDCbJzQ2J0=');
  same('base64url', crypto.sha1('abc', 'base64url'), 'qZk-NkcGgWq6PiVxeFDCbJzQ2J0=');
  same('base64rawurl', crypto.sha1('abc', 'base64rawurl'), 'qZk-NkcGgWq6PiVxeFDCbJzQ2J0');
  const binary = crypto.md5('abc', 'binary');
  same('binary', [binary instanceof ArrayBuffer, binary.byteLength], [true, 16]);
  same('hexEncode', crypto.hexEncode('ab'), '6162');
  same(
    'randomBytes',
    [crypto.randomBytes(5).byteLength, crypto.randomBytes(5) instanceof ArrayBuffer],
    [5, true],
  );
  const hasher = crypto.createHash('sha256');
  hasher.update('a');
  hasher.digest('hex');
  hasher.update('bc');
  same('a digest is no end', hasher.digest('hex'), digests.sha256);
  for (const run of [
    () => crypto.randomBytes(0),
    () => crypto.randomBytes(-1),
    () => crypto.sha1('abc', 'other'),
    () => crypto.sha1('abc'),
    () => crypto.sha1(5, 'hex'),
    () => crypto.hmac('x', 'k', 'd', 'hex'),
  ]) {
    try {
      console.log(typeof run());
    } catch (error) {
      console.log(String(error));
    }
  }
}
