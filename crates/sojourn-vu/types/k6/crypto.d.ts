// The module `k6/crypto`: digests and HMAC.

export type Algorithm =
  | 'md4'
  | 'md5'
  | 'sha1'
  | 'sha256'
  | 'sha384'
  | 'sha512'
  | 'sha512_224'
  | 'sha512_256'
  | 'ripemd160';
export type TextEncoding = 'base64' | 'base64url' | 'base64rawurl' | 'hex';
export type Input = string | ArrayBuffer;

export interface Hasher {
  update(input: Input): void;
  digest(encoding: 'binary'): ArrayBuffer;
  digest(encoding: TextEncoding): string;
}

interface Digest {
  (input: Input, encoding: 'binary'): ArrayBuffer;
  (input: Input, encoding: TextEncoding): string;
}

export const md4: Digest;
export const md5: Digest;
export const sha1: Digest;
export const sha256: Digest;
export const sha384: Digest;
export const sha512: Digest;
export const sha512_224: Digest;
export const sha512_256: Digest;
export const ripemd160: Digest;
export function createHash(algorithm: Algorithm): Hasher;
export function createHMAC(algorithm: Algorithm, key: Input): Hasher;
export function hmac(
  algorithm: Algorithm,
  key: Input,
  data: Input,
  encoding: 'binary',
): ArrayBuffer;
export function hmac(algorithm: Algorithm, key: Input, data: Input, encoding: TextEncoding): string;
export function hexEncode(input: Input): string;
export function randomBytes(size: number): ArrayBuffer;

declare const crypto: typeof import('./crypto');
export default crypto;
