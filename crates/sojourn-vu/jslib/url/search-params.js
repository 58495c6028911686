// URLSearchParams: application/x-www-form-urlencoded (URL standard, sections 5 and 6.2).
import { decode, encode, FORM } from './percent.js';

const written = (text) => encode(text, FORM).replace(/%20/g, '+');

function read(text) {
  return text
    .split('&')
    .filter((it) => it !== '')
    .map((it) => {
      const plain = it.replace(/\+/g, ' ');
      const at = plain.indexOf('=');
      return at < 0
        ? [decode(plain), '']
        : [decode(plain.slice(0, at)), decode(plain.slice(at + 1))];
    });
}

// Whom a list tells of its changes; a URL is the only one.
const listeners = new WeakMap();
const lists = new WeakMap();

/** `listener` is told the text after each change. */
export function onChange(params, listener) {
  listeners.set(params, listener);
}

/** Other pairs, of which nobody is told. */
export function replace(params, text) {
  lists.set(params, read(text));
}

function pairsOf(init) {
  if (init === undefined || init === null) return [];
  if (typeof init !== 'object') return read(String(init).replace(/^\?/, ''));
  if (typeof init[Symbol.iterator] === 'function') {
    return Array.from(init, (it) => {
      const pair = Array.from(it, String);
      if (pair.length !== 2) throw new TypeError('each pair must be a name and a value');
      return pair;
    });
  }
  return Object.keys(init).map((name) => [name, String(init[name])]);
}

export class URLSearchParams {
  constructor(init) {
    lists.set(this, pairsOf(init));
  }

  #set(pairs) {
    lists.set(this, pairs);
    const listener = listeners.get(this);
    if (listener) listener(this.toString());
  }

  get size() {
    return lists.get(this).length;
  }

  append(name, value) {
    this.#set([...lists.get(this), [String(name), String(value)]]);
  }

  delete(name, value) {
    const goes = ([key, it]) =>
      key === String(name) && (value === undefined || it === String(value));
    this.#set(lists.get(this).filter((it) => !goes(it)));
  }

  get(name) {
    const pair = lists.get(this).find(([key]) => key === String(name));
    return pair === undefined ? null : pair[1];
  }

  getAll(name) {
    return lists
      .get(this)
      .filter(([key]) => key === String(name))
      .map(([, value]) => value);
  }

  has(name, value) {
    return lists
      .get(this)
      .some(([key, it]) => key === String(name) && (value === undefined || it === String(value)));
  }

  set(name, value) {
    let done = false;
    const pairs = [];
    for (const [key, it] of lists.get(this)) {
      if (key !== String(name)) pairs.push([key, it]);
      else if (!done) pairs.push([key, String(value)]);
      done = done || key === String(name);
    }
    if (!done) pairs.push([String(name), String(value)]);
    this.#set(pairs);
  }

  /** By name, in UTF-16 units; alike names keep their order. */
  sort() {
    this.#set([...lists.get(this)].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  forEach(callback, self) {
    for (const [name, value] of lists.get(this)) callback.call(self, value, name, this);
  }

  *entries() {
    for (let at = 0; at < lists.get(this).length; at++) yield [...lists.get(this)[at]];
  }

  *keys() {
    for (const [name] of this.entries()) yield name;
  }

  *values() {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  toString() {
    return lists
      .get(this)
      .map(([name, value]) => `${written(name)}=${written(value)}`)
      .join('&');
  }
}
