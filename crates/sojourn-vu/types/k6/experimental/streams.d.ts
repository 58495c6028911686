// The module `k6/experimental/streams`: streams that are read, by the rules of the WHATWG Streams Standard.
export interface UnderlyingSource<T> {
  /** Called at once; what it promises is waited for before anything is pulled. */
  start?(controller: ReadableStreamDefaultController<T>): unknown;
  /** Called whenever the stream has room for a chunk, or a read waits for one. */
  pull?(controller: ReadableStreamDefaultController<T>): unknown;
  /** Called when who reads wants no more. */
  cancel?(reason?: unknown): unknown;
}

export interface QueuingStrategy<T> {
  /** How much the stream holds before it pulls no more; 1 unless said. */
  highWaterMark?: number;
  /** How much a chunk counts for; 1 unless said. */
  size?(chunk: T): number;
}

export class CountQueuingStrategy {
  constructor(options: { highWaterMark: number });
  highWaterMark: number;
  size(): 1;
}

export class ReadableStreamDefaultController<T = unknown> {
  private constructor();
  /** How much room there is; null once errored, 0 once closed. */
  readonly desiredSize: number | null;
  close(): void;
  enqueue(chunk: T): void;
  error(reason?: unknown): void;
}

export class ReadableStreamDefaultReader<T = unknown> {
  constructor(stream: ReadableStream<T>);
  readonly closed: Promise<undefined>;
  read(): Promise<{ done: false; value: T } | { done: true; value: undefined }>;
  cancel(reason?: unknown): Promise<void>;
  releaseLock(): void;
}

export class ReadableStream<T = unknown> {
  constructor(source?: UnderlyingSource<T>, strategy?: QueuingStrategy<T>);
  readonly locked: boolean;
  cancel(reason?: unknown): Promise<void>;
  getReader(): ReadableStreamDefaultReader<T>;
}

declare const streams: typeof import('./streams');
export default streams;
