// What scripts find without importing it.

/** Environment variables: the system's, those of `-e`, and the scenario's. */
declare const __ENV: Record<string, string>;
/** This user's number from 1; 0 in init, setup and teardown. */
declare const __VU: number;
/** Iterations of this user before this one; not there outside of iterations. */
declare const __ITER: number;

/** A file's text, or its bytes. At init only; relative to the first script. */
declare function open(path: string): string;
declare function open(path: string, mode: 'b'): ArrayBuffer;
/** A CommonJS module. At init only. */
declare function require(id: string): any;

declare const global: typeof globalThis;
declare const module: { exports: any };
declare const exports: any;

interface ImportMeta {
  /** This module's URL. */
  readonly url?: string;
  /** The absolute URL that a specifier stands for. */
  resolve(specifier: string): string;
}

interface Console {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  debug(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
}
declare const console: Console;

declare function setTimeout(
  callback: (...args: any[]) => void,
  ms?: number,
  ...args: any[]
): number;
declare function clearTimeout(id?: number): void;
declare function setInterval(
  callback: (...args: any[]) => void,
  ms?: number,
  ...args: any[]
): number;
declare function clearInterval(id?: number): void;

declare class TextEncoder {
  readonly encoding: 'utf-8';
  encode(text?: string): Uint8Array;
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  decode(bytes?: ArrayBuffer | ArrayBufferView): string;
}

type BufferSource = ArrayBuffer | ArrayBufferView;
type KeyUsage =
  'encrypt' | 'decrypt' | 'sign' | 'verify' | 'deriveKey' | 'deriveBits' | 'wrapKey' | 'unwrapKey';
type KeyFormat = 'raw' | 'pkcs8' | 'spki' | 'jwk';
type AlgorithmIdentifier = string | { name: string; [parameter: string]: any };

interface CryptoKey {
  readonly type: 'secret' | 'private' | 'public';
  readonly extractable: boolean;
  readonly algorithm: { name: string; [parameter: string]: any };
  readonly usages: KeyUsage[];
}

interface CryptoKeyPair {
  publicKey: CryptoKey;
  privateKey: CryptoKey;
}

interface JsonWebKey {
  kty?: string;
  [member: string]: any;
}

interface SubtleCrypto {
  decrypt(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  deriveBits(algorithm: AlgorithmIdentifier, key: CryptoKey, length: number): Promise<ArrayBuffer>;
  deriveKey(
    algorithm: AlgorithmIdentifier,
    key: CryptoKey,
    derived: AlgorithmIdentifier,
    extractable: boolean,
    usages: KeyUsage[],
  ): Promise<CryptoKey>;
  digest(algorithm: AlgorithmIdentifier, data: BufferSource): Promise<ArrayBuffer>;
  encrypt(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  exportKey(format: 'jwk', key: CryptoKey): Promise<JsonWebKey>;
  exportKey(format: Exclude<KeyFormat, 'jwk'>, key: CryptoKey): Promise<ArrayBuffer>;
  generateKey(
    algorithm: AlgorithmIdentifier,
    extractable: boolean,
    usages: KeyUsage[],
  ): Promise<CryptoKey | CryptoKeyPair>;
  importKey(
    format: KeyFormat,
    data: BufferSource | JsonWebKey,
    algorithm: AlgorithmIdentifier,
    extractable: boolean,
    usages: KeyUsage[],
  ): Promise<CryptoKey>;
  sign(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  verify(
    algorithm: AlgorithmIdentifier,
    key: CryptoKey,
    signature: BufferSource,
    data: BufferSource,
  ): Promise<boolean>;
}

interface Crypto {
  readonly subtle: SubtleCrypto;
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  randomUUID(): string;
}
declare const crypto: Crypto;
