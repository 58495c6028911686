// The module `k6/data`.

/**
 * An array that all users share: made once, at init, by whoever comes first. Elements are frozen
 * copies.
 */
export class SharedArray<T = any> implements Iterable<T> {
  constructor(name: string, make: () => T[]);
  readonly length: number;
  readonly [index: number]: T;
  [Symbol.iterator](): IterableIterator<T>;
  every(test: (value: T, index: number) => unknown): boolean;
  filter(test: (value: T, index: number) => unknown): T[];
  find(test: (value: T, index: number) => unknown): T | undefined;
  findIndex(test: (value: T, index: number) => unknown): number;
  forEach(run: (value: T, index: number) => void): void;
  map<U>(make: (value: T, index: number) => U): U[];
  reduce<U>(merge: (sum: U, value: T, index: number) => U, first: U): U;
  slice(start?: number, end?: number): T[];
  some(test: (value: T, index: number) => unknown): boolean;
}

declare const data: typeof import('./data');
export default data;
