// The module `k6/experimental/fs`: files that are read in pieces.

export enum SeekMode {
  Start = 0,
  Current = 1,
  End = 2,
}

export interface File {
  readonly path: string;
  stat(): Promise<{ name: string; size: number }>;
  /** Bytes read, null at the end. */
  read(into: Uint8Array): Promise<number | null>;
  seek(offset: number, whence: SeekMode): Promise<number>;
}

/** At init only. */
export function open(path: string): Promise<File>;

declare const fs: typeof import('./fs');
export default fs;
