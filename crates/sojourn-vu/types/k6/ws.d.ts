// The module `k6/ws`: a WebSocket that holds the iteration until it closes.
import type { Tags } from '../k6';
import type { CookieJar, Response } from './http';

export interface Params {
  headers?: Record<string, string>;
  tags?: Tags;
  jar?: CookieJar;
  /** Offers `permessage-deflate`: messages are compressed if the server agrees. */
  compression?: 'deflate';
}

export interface SocketEvents {
  binaryMessage: (data: ArrayBuffer) => void;
  close: (code: number) => void;
  error: (error: { error(): string }) => void;
  message: (data: string) => void;
  open: () => void;
  ping: () => void;
  pong: () => void;
}

export interface Socket {
  on<E extends keyof SocketEvents>(event: E, run: SocketEvents[E]): void;
  close(code?: number): void;
  ping(): void;
  send(data: string): void;
  sendBinary(data: ArrayBuffer): void;
  setInterval(run: () => void, ms: number): void;
  setTimeout(run: () => void, ms: number): void;
}

/** Returns the answer to the upgrade once the socket is closed. */
export function connect(
  url: string,
  params: Params | null,
  run: (socket: Socket) => void,
): Response;
export function connect(url: string, run: (socket: Socket) => void): Response;

declare const ws: typeof import('./ws');
export default ws;
