// The module `k6/encoding`.

export type Base64 = 'std' | 'rawstd' | 'url' | 'rawurl';

export function b64encode(input: string | ArrayBuffer, encoding?: Base64): string;
export function b64decode(input: string, encoding: Base64 | undefined, format: 's'): string;
export function b64decode(input: string, encoding?: Base64): ArrayBuffer;

declare const encoding: typeof import('./encoding');
export default encoding;
