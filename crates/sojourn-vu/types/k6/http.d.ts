// The module `k6/http`.
import type { Tags } from '../k6';
import type { Selection } from './html';

export type Url = string | HttpUrl;

/** What the tag `http.url` makes: a URL whose name keeps its templates. */
export interface HttpUrl {
  readonly name: string;
  readonly url: string;
  toString(): string;
}

export interface FileData {
  data: string | ArrayBuffer;
  filename: string;
  content_type: string;
}

/** A text, bytes, or an object: a form, or multipart where it has a file. */
export type RequestBody = string | ArrayBuffer | ArrayBufferView | Record<string, any> | null;

export type ResponseType = 'text' | 'binary' | 'none';

export interface Params {
  auth?: 'basic' | 'digest' | 'ntlm';
  compression?: string;
  cookies?: Record<string, string | { value: string; replace?: boolean }>;
  headers?: Record<string, string | number | boolean>;
  jar?: CookieJar | null;
  redirects?: number;
  responseCallback?: ExpectedStatuses | null;
  responseType?: ResponseType;
  tags?: Tags;
  throw?: boolean;
  /** A text such as `10s`, or milliseconds; 60 s by default. */
  timeout?: string | number;
}

/** Times in milliseconds. */
export interface Timings {
  blocked: number;
  connecting: number;
  /** Sending, waiting and receiving. */
  duration: number;
  looking_up: number;
  receiving: number;
  sending: number;
  tls_handshaking: number;
  waiting: number;
}

export interface ResponseCookie {
  name: string;
  value: string;
  domain: string;
  path: string;
  http_only: boolean;
  secure: boolean;
  max_age: number;
  /** Milliseconds since 1970. */
  expires: number;
}

export type JSONValue =
  null | boolean | number | string | JSONValue[] | { [key: string]: JSONValue };

export interface Ocsp {
  next_update: number;
  produced_at: number;
  revocation_reason: string;
  revoked_at: number;
  status: string;
  this_update: number;
}

export interface SubmitFormOptions {
  formSelector?: string;
  submitSelector?: string;
  fields?: Record<string, string>;
  params?: Params;
}

/** An answer; its status is 0 where there was none. */
export interface Response {
  body: string | ArrayBuffer | null;
  cookies: Record<string, ResponseCookie[]>;
  error: string;
  error_code: number;
  headers: Record<string, string>;
  ocsp: Ocsp;
  proto: string;
  remote_ip: string;
  remote_port: number;
  request: {
    body: string;
    cookies: Record<string, { name: string; value: string; replace: boolean }[]>;
    headers: Record<string, string[]>;
    method: string;
    url: string;
  };
  status: number;
  status_text: string;
  timings: Timings;
  tls_cipher_suite: string;
  tls_version: string;
  url: string;
  clickLink(options?: { selector?: string; params?: Params }): Response;
  html(selector?: string): Selection;
  /** The body's JSON, or what a path such as `items.0.id` selects of it. */
  json<T = any>(selector?: string): T;
  submitForm(options?: SubmitFormOptions): Response;
}

export type RefinedResponse<T extends ResponseType = 'text'> = Omit<Response, 'body'> & {
  body: T extends 'binary' ? ArrayBuffer : T extends 'none' ? null : string;
};

export interface ObjectBatchRequest {
  method?: string;
  url: Url;
  body?: RequestBody;
  params?: Params;
}

export type ArrayBatchRequest = [string, Url, RequestBody?, Params?];
export type BatchRequest = Url | ArrayBatchRequest | ObjectBatchRequest;

/** What `expectedStatuses` makes. */
export interface ExpectedStatuses {
  readonly __expectedStatuses?: never;
}

export interface CookieOptions {
  domain?: string;
  expires?: string;
  http_only?: boolean;
  max_age?: number;
  path?: string;
  secure?: boolean;
}

export class CookieJar {
  clear(url: string): void;
  cookiesForURL(url: string): Record<string, string[]>;
  delete(url: string, name: string): void;
  set(url: string, name: string, value: string, options?: CookieOptions): boolean;
}

export function asyncRequest(
  method: string,
  url: Url,
  body?: RequestBody,
  params?: Params,
): Promise<Response>;
export function batch<T extends BatchRequest[]>(requests: T): { [K in keyof T]: Response };
export function batch<K extends string>(requests: Record<K, BatchRequest>): Record<K, Response>;
/** This user's jar. */
export function cookieJar(): CookieJar;
export function del(url: Url, body?: RequestBody, params?: Params): Response;
export function expectedStatuses(
  ...statuses: (number | { min: number; max: number })[]
): ExpectedStatuses;
export function file(
  data: string | ArrayBuffer | ArrayBufferView,
  filename?: string,
  contentType?: string,
): FileData;
export function get(url: Url, params?: Params | null): Response;
export function head(url: Url, params?: Params | null): Response;
export function options(url: Url, body?: RequestBody, params?: Params): Response;
export function patch(url: Url, body?: RequestBody, params?: Params): Response;
export function post(url: Url, body?: RequestBody, params?: Params): Response;
export function put(url: Url, body?: RequestBody, params?: Params): Response;
export function request(method: string, url: Url, body?: RequestBody, params?: Params): Response;
export function setResponseCallback(callback: ExpectedStatuses | null): void;
/** A URL whose name has `${}` where values were put in. */
export function url(parts: TemplateStringsArray, ...values: unknown[]): HttpUrl;

export const TLS_1_0: 'tls1.0';
export const TLS_1_1: 'tls1.1';
export const TLS_1_2: 'tls1.2';
export const TLS_1_3: 'tls1.3';
export const OCSP_STATUS_GOOD: 'good';
export const OCSP_STATUS_REVOKED: 'revoked';
export const OCSP_STATUS_SERVER_FAILED: 'server_failed';
export const OCSP_STATUS_UNKNOWN: 'unknown';
export const OCSP_REASON_AA_COMPROMISE: string;
export const OCSP_REASON_AFFILIATION_CHANGED: string;
export const OCSP_REASON_CA_COMPROMISE: string;
export const OCSP_REASON_CERTIFICATE_HOLD: string;
export const OCSP_REASON_CESSATION_OF_OPERATION: string;
export const OCSP_REASON_KEY_COMPROMISE: string;
export const OCSP_REASON_PRIVILEGE_WITHDRAWN: string;
export const OCSP_REASON_REMOVE_FROM_CRL: string;
export const OCSP_REASON_SUPERSEDED: string;
export const OCSP_REASON_UNSPECIFIED: string;

declare const http: typeof import('./http');
export default http;
