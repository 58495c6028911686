// The module `k6/websockets`: WebSockets as browsers have them.
import type { ReadableStream } from './experimental/streams';
import type { Params } from './ws';

export class Blob {
  constructor(
    parts?: (string | ArrayBuffer | ArrayBufferView | Blob)[],
    options?: { type?: string },
  );
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>;
  slice(start?: number, end?: number, type?: string): Blob;
  stream(): ReadableStream<Uint8Array>;
  text(): Promise<string>;
}

export interface Event {
  type: string;
  timestamp: number;
}

export interface MessageEvent extends Event {
  data: string | ArrayBuffer | Blob;
}

export interface CloseEvent extends Event {
  code: number;
  reason: string;
}

export interface ErrorEvent extends Event {
  error: string;
}

export interface WebSocketEvents {
  close: CloseEvent;
  error: ErrorEvent;
  message: MessageEvent;
  open: Event;
  ping: Event;
  pong: Event;
}

export class WebSocket {
  constructor(url: string, protocols?: string | string[] | null, params?: Params);
  readonly readyState: 0 | 1 | 2 | 3;
  readonly url: string;
  readonly bufferedAmount: number;
  readonly extensions: string[];
  readonly protocol: string;
  binaryType: 'blob' | 'arraybuffer';
  onclose: ((event: CloseEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onopen: ((event: Event) => void) | null;
  onping: ((event: Event) => void) | null;
  onpong: ((event: Event) => void) | null;
  addEventListener<E extends keyof WebSocketEvents>(
    event: E,
    run: (event: WebSocketEvents[E]) => void,
  ): void;
  close(code?: number, reason?: string): void;
  ping(): void;
  send(data: string | ArrayBuffer | ArrayBufferView | Blob): void;
}

declare const websockets: typeof import('./websockets');
export default websockets;
