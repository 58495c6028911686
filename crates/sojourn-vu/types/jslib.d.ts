// The common remote modules, which are brought along and resolved without a network.

declare module 'https://jslib.k6.io/k6-utils/*' {
  export function check<T>(
    value: T,
    sets: Record<string, unknown>,
    tags?: Record<string, string>,
  ): boolean | Promise<boolean>;
  export function findBetween(content: string, left: string, right: string, repeat: true): string[];
  export function findBetween(content: string, left: string, right: string, repeat?: false): string;
  export function getCurrentStageIndex(): number;
  export function normalDistributionStages(
    maxVus: number,
    durationSeconds: number,
    numberOfStages?: number,
  ): { duration: string; target: number }[];
  export function parseDuration(text: string | number): number;
  export function randomIntBetween(min: number, max: number): number;
  export function randomItem<T>(array: ArrayLike<T>): T;
  export function randomString(length: number, charset?: string): string;
  export function tagWithCurrentStageIndex(): void;
  export function tagWithCurrentStageProfile(): void;
  export function uuidv4(): string;
}

declare module 'https://jslib.k6.io/k6-summary/*' {
  export function humanizeValue(
    value: number,
    metric: { type: string; contains?: string },
    unit?: string,
  ): string;
  export function jUnit(data: object, options?: { name?: string; classname?: string }): string;
  export function textSummary(
    data: object,
    options?: { indent?: string; enableColors?: boolean },
  ): string;
}

declare module 'https://jslib.k6.io/papaparse/*' {
  export interface ParseResult<T> {
    data: T[];
    errors: { type: string; code: string; message: string; row?: number; index?: number }[];
    meta: {
      delimiter: string;
      linebreak: string;
      aborted: boolean;
      truncated: boolean;
      cursor: number;
      fields?: string[];
    };
  }
  const papaparse: {
    parse<T = any>(text: string, config?: Record<string, any>): ParseResult<T>;
    unparse(rows: unknown, config?: Record<string, any>): string;
  };
  export default papaparse;
}

declare module 'https://jslib.k6.io/url/*' {
  export class URLSearchParams {
    constructor(init?: string | Record<string, string> | Iterable<[string, string]>);
    readonly size: number;
    append(name: string, value: string): void;
    delete(name: string, value?: string): void;
    get(name: string): string | null;
    getAll(name: string): string[];
    has(name: string, value?: string): boolean;
    set(name: string, value: string): void;
    sort(): void;
    forEach(run: (value: string, name: string) => void): void;
    toString(): string;
    [Symbol.iterator](): IterableIterator<[string, string]>;
  }
  export class URL {
    constructor(url: string, base?: string | URL);
    hash: string;
    host: string;
    hostname: string;
    href: string;
    readonly origin: string;
    password: string;
    pathname: string;
    port: string;
    protocol: string;
    search: string;
    readonly searchParams: URLSearchParams;
    username: string;
    toString(): string;
    static canParse(url: string, base?: string): boolean;
  }
}

declare module 'https://jslib.k6.io/formdata/*' {
  export class FormData {
    readonly boundary: string;
    append(name: string, value: unknown, filename?: string): void;
    body(): ArrayBuffer;
    contentType(): string;
  }
}

declare module 'https://jslib.k6.io/httpx/*' {
  import type { Params, RequestBody, Response } from 'k6/http';

  type Send = (url: string, body?: RequestBody, params?: Params) => Response;
  export class Request {
    constructor(method: string, url: string, body?: RequestBody, params?: Params);
  }
  export class Get extends Request {
    constructor(url: string, body?: RequestBody, params?: Params);
  }
  export class Post extends Get {}
  export class Put extends Get {}
  export class Patch extends Get {}
  export class Delete extends Get {}
  export class Httpx {
    constructor(options?: {
      baseURL?: string;
      headers?: object;
      timeout?: number | string;
      tags?: object;
    });
    get: Send;
    post: Send;
    put: Send;
    patch: Send;
    delete: Send;
    head: Send;
    options: Send;
    request(method: string, url: string, body?: RequestBody, params?: Params): Response;
    asyncRequest(
      method: string,
      url: string,
      body?: RequestBody,
      params?: Params,
    ): Promise<Response>;
    asyncGet(url: string, body?: RequestBody, params?: Params): Promise<Response>;
    batch(requests: (Request | string)[], params?: Params): Response[];
    addHeader(name: string, value: string): void;
    addHeaders(headers: Record<string, string>): void;
    clearHeader(name: string): void;
    addTag(name: string, value: string): void;
    addTags(tags: Record<string, string>): void;
    clearTag(name: string): void;
    setBaseUrl(url: string): void;
  }
}

declare module 'https://jslib.k6.io/k6chaijs/*' {
  export function describe(name: string, run: () => void): boolean;
  export function expect(value: unknown, message?: string): any;
  export const chai: any;
  export default chai;
}

declare module 'https://jslib.k6.io/k6-testing/*' {
  export const expect: {
    (actual: any, message?: string): any;
    soft(actual: any, message?: string): any;
    configure(options: Record<string, unknown>): typeof expect;
  };
}

declare module 'https://jslib.k6.io/totp/*' {
  export class TOTP {
    constructor(secret: string, digits?: number);
    gen(timeStep?: number, bias?: number): Promise<string>;
    verify(code: string, timeStep?: number): Promise<boolean>;
  }
}

declare module 'https://raw.githubusercontent.com/benc-uk/k6-reporter/*' {
  export function htmlReport(data: object, options?: { title?: string; debug?: boolean }): string;
}
