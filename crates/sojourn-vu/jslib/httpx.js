// An HTTP session over k6/http: base URL, headers, tags and timeout of all its requests.
import http from 'k6/http';

const merge = (...objects) => Object.assign({}, ...objects);

/** A request that is not sent yet, for batches. */
export class Request {
  constructor(method, url, body, params) {
    this.method = method;
    this.url = url;
    this.body = body;
    this.params = params || {};
  }
}

const request = (method) =>
  class extends Request {
    constructor(url, body, params) {
      super(method, url, body, params);
    }
  };

export const Get = request('GET');
export const Post = request('POST');
export const Put = request('PUT');
export const Patch = request('PATCH');
export const Delete = request('DELETE');
export const Head = request('HEAD');
export const Options = request('OPTIONS');

/** A session: `{ baseURL, headers, timeout, tags }`. Of alike settings a request's own win. */
export class Httpx {
  constructor(options = {}) {
    this.baseURL = options.baseURL || '';
    this.headers = merge(options.headers);
    this.tags = merge(options.tags);
    this.timeout = options.timeout;
  }

  setBaseUrl(url) {
    this.baseURL = url;
  }

  addHeader(name, value) {
    this.headers[name] = value;
  }

  addHeaders(headers) {
    Object.assign(this.headers, headers);
  }

  clearHeader(name) {
    delete this.headers[name];
  }

  addTag(name, value) {
    this.tags[name] = value;
  }

  addTags(tags) {
    Object.assign(this.tags, tags);
  }

  clearTag(name) {
    delete this.tags[name];
  }

  setTimeout(timeout) {
    this.timeout = timeout;
  }

  request(method, url, body, params) {
    return http.request(method, this.#url(url), body, this.#params(params));
  }

  asyncRequest(method, url, body, params) {
    return http.asyncRequest(method, this.#url(url), body, this.#params(params));
  }

  /** Sends requests at once: an array, or an object whose shape the answer keeps. */
  batch(requests, params) {
    const item = (it) => {
      const { method, url, body, params: own } = this.#understood(it);
      const merged = merge(params, own, {
        headers: merge(params && params.headers, own && own.headers),
        tags: merge(params && params.tags, own && own.tags),
      });
      return { method, url: this.#url(url), body, params: this.#params(merged) };
    };
    if (Array.isArray(requests)) return http.batch(requests.map(item));
    return http.batch(
      Object.fromEntries(Object.entries(requests).map(([key, it]) => [key, item(it)])),
    );
  }

  #understood(it) {
    if (typeof it === 'string') return new Request('GET', it);
    if (Array.isArray(it)) return new Request(...it);
    return it.method === undefined ? { ...it, method: 'GET' } : it;
  }

  /** An absolute URL stays as it is. */
  #url(url) {
    if (url !== null && typeof url === 'object') return url;
    return /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : this.baseURL + url;
  }

  #params(own) {
    const params = merge(own);
    params.headers = merge(this.headers, params.headers);
    params.tags = merge(this.tags, params.tags);
    if (params.timeout === undefined && this.timeout !== undefined) params.timeout = this.timeout;
    return params;
  }
}

for (const method of ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace']) {
  Httpx.prototype[method] = function send(url, body, params) {
    return this.request(method.toUpperCase(), url, body, params);
  };
  const later = `async${method[0].toUpperCase()}${method.slice(1)}`;
  Httpx.prototype[later] = function send(url, body, params) {
    return this.asyncRequest(method.toUpperCase(), url, body, params);
  };
}
Httpx.prototype.del = Httpx.prototype.delete;

export default new Httpx();
