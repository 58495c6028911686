// The module `k6/net/grpc`.
import type { Tags } from '../../k6';

export interface MethodInfo {
  package: string;
  service: string;
  name: string;
  full_method: string;
  is_client_stream: boolean;
  is_server_stream: boolean;
}

export interface ConnectParams {
  authority?: string;
  maxReceiveSize?: number;
  maxSendSize?: number;
  plaintext?: boolean;
  reflect?: boolean;
  reflectMetadata?: Record<string, string>;
  timeout?: string | number;
  tls?: { cert?: string; key?: string; password?: string; cacerts?: string | string[] };
}

export interface Params {
  discardResponseMessage?: boolean;
  /** Keys that end with `-bin` have bytes. */
  metadata?: Record<string, string | ArrayBuffer>;
  tags?: Tags;
  timeout?: string | number;
}

export interface GrpcError {
  code: number;
  message: string;
  details: unknown[];
}

export interface Response {
  error: GrpcError | null;
  headers: Record<string, string[]>;
  message: any;
  status: number;
  trailers: Record<string, string[]>;
}

export class Client {
  load(paths: string[] | null, ...files: string[]): MethodInfo[];
  loadProtoset(file: string): MethodInfo[];
  connect(address: string, params?: ConnectParams): boolean;
  invoke(method: string, request: object, params?: Params): Response;
  asyncInvoke(method: string, request: object, params?: Params): Promise<Response>;
  /** What the server says of itself, or of one of its services; one it does not know throws. */
  healthCheck(service?: string): { status: number };
  close(): void;
}

export class Stream {
  constructor(client: Client, method: string, params?: Params);
  on(event: 'data', run: (message: any) => void): void;
  on(event: 'error', run: (error: GrpcError) => void): void;
  on(event: 'end', run: () => void): void;
  on(event: 'status', run: (status: number) => void): void;
  write(message: object): void;
  end(): void;
}

export const StatusOK: 0;
export const StatusCanceled: 1;
export const StatusUnknown: 2;
export const StatusInvalidArgument: 3;
export const StatusDeadlineExceeded: 4;
export const StatusNotFound: 5;
export const StatusAlreadyExists: 6;
export const StatusPermissionDenied: 7;
export const StatusResourceExhausted: 8;
export const StatusFailedPrecondition: 9;
export const StatusAborted: 10;
export const StatusOutOfRange: 11;
export const StatusUnimplemented: 12;
export const StatusInternal: 13;
export const StatusUnavailable: 14;
export const StatusDataLoss: 15;
export const StatusUnauthenticated: 16;
export const HealthCheckUnknown: number;
export const HealthCheckServing: number;
export const HealthCheckNotServing: number;
/** Spelt as k6 spells it. */
export const HealthCheckServiceUnkown: number;

declare const grpc: typeof import('./grpc');
export default grpc;
