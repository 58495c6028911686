// The module `k6/experimental/csv`.
import type { SharedArray } from '../data';
import type { File } from './fs';

export interface Options {
  delimiter?: string;
  skipFirstLine?: boolean;
  fromLine?: number;
  toLine?: number;
  /** Rows are objects by the names of the first line. */
  asObjects?: boolean;
}

/** All rows, shared by all users. */
export function parse(file: File, options?: Options): Promise<SharedArray<any>>;

export class Parser {
  constructor(file: File, options?: Options);
  next(): Promise<{ done: boolean; value: any }>;
}

declare const csv: typeof import('./csv');
export default csv;
