// URL and URLSearchParams by the WHATWG URL standard (https://url.spec.whatwg.org/).
import { parse, serialize, serializeHost } from './url/parser.js';
import { change } from './url/setters.js';
import { onChange, replace, URLSearchParams } from './url/search-params.js';

export { URLSearchParams };

const SPECIAL_ORIGINS = ['http', 'https', 'ws', 'wss', 'ftp'];

export class URL {
  #record;
  #params;

  constructor(url, base) {
    const from = base === undefined ? null : parse(String(base));
    this.#record = base !== undefined && from === null ? null : parse(String(url), from);
    if (this.#record === null) {
      throw new TypeError(
        `Invalid URL: ${JSON.stringify(String(url))}` +
          (base === undefined ? '' : ` with base ${JSON.stringify(String(base))}`),
      );
    }
    this.#params = new URLSearchParams(this.#record.query || '');
    onChange(this.#params, (text) => {
      this.#record.query = text === '' ? null : text;
    });
  }

  static canParse(url, base) {
    try {
      return Boolean(new URL(url, base));
    } catch {
      return false;
    }
  }

  static parse(url, base) {
    try {
      return new URL(url, base);
    } catch {
      return null;
    }
  }

  #change(member, value) {
    if (member === 'href') {
      const record = parse(String(value));
      if (record === null) throw new TypeError(`Invalid URL: ${JSON.stringify(String(value))}`);
      this.#record = record;
    } else {
      change(this.#record, member, String(value));
    }
    if (member === 'href' || member === 'search') replace(this.#params, this.#record.query || '');
  }

  get href() {
    return serialize(this.#record);
  }
  set href(value) {
    this.#change('href', value);
  }

  get origin() {
    const { scheme, path } = this.#record;
    if (scheme === 'blob') {
      const inner = typeof path === 'string' ? URL.parse(path) : null;
      return inner !== null && /^https?:$/.test(inner.protocol) ? inner.origin : 'null';
    }
    return SPECIAL_ORIGINS.includes(scheme) ? `${scheme}://${this.host}` : 'null';
  }

  get protocol() {
    return `${this.#record.scheme}:`;
  }
  set protocol(value) {
    this.#change('protocol', value);
  }

  get username() {
    return this.#record.username;
  }
  set username(value) {
    this.#change('username', value);
  }

  get password() {
    return this.#record.password;
  }
  set password(value) {
    this.#change('password', value);
  }

  get host() {
    const { host, port } = this.#record;
    if (host === null) return '';
    return serializeHost(host) + (port === null ? '' : `:${port}`);
  }
  set host(value) {
    this.#change('host', value);
  }

  get hostname() {
    return this.#record.host === null ? '' : serializeHost(this.#record.host);
  }
  set hostname(value) {
    this.#change('hostname', value);
  }

  get port() {
    return this.#record.port === null ? '' : String(this.#record.port);
  }
  set port(value) {
    this.#change('port', value);
  }

  get pathname() {
    const { path } = this.#record;
    return typeof path === 'string' ? path : path.map((it) => `/${it}`).join('');
  }
  set pathname(value) {
    this.#change('pathname', value);
  }

  get search() {
    return this.#record.query ? `?${this.#record.query}` : '';
  }
  set search(value) {
    this.#change('search', value);
  }

  get searchParams() {
    return this.#params;
  }

  get hash() {
    return this.#record.fragment ? `#${this.#record.fragment}` : '';
  }
  set hash(value) {
    this.#change('hash', value);
  }

  toString() {
    return this.href;
  }
  toJSON() {
    return this.href;
  }
}

export default { URL, URLSearchParams };
