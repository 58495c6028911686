// The basic URL parser (URL standard, section 4.4), part by part instead of letter by letter.
//
// A record: { scheme, username, password, host, port, path, query, fragment }; `path` is a text
// where it is opaque (`mailto:a@b`), else a list of segments. null stands for an absent part.
import { parseHost, serializeHost } from './host.js';
import { CONTROL, encode, FRAGMENT, PATH, QUERY, SPECIAL_QUERY, USERINFO } from './percent.js';

export { serializeHost };

const PORTS = { ftp: 21, file: null, http: 80, https: 443, ws: 80, wss: 443 };

export const isSpecial = (record) => record.scheme in PORTS;

const isWindowsLetter = (text) => /^[a-z][:|]$/i.test(text);
const startsWithWindowsLetter = (text) => /^[a-z][:|]([/\\?#]|$)/i.test(text);
const isSingleDot = (text) => /^(\.|%2e)$/i.test(text);
const isDoubleDot = (text) => /^(\.|%2e){2}$/i.test(text);

const empty = (scheme) => ({
  scheme,
  username: '',
  password: '',
  host: null,
  port: null,
  path: [],
  query: null,
  fragment: null,
});

/** The record of a URL, null if it is none. */
export function parse(input, base = null) {
  // eslint-disable-next-line no-control-regex
  const text = input.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
  const { body, query, fragment } = cut(text);
  const scheme = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(body);
  const record =
    scheme === null
      ? relative(body, query, base)
      : absolute(scheme[1].toLowerCase(), scheme[2], base, query);
  if (record === null) return null;
  if (query !== null) record.query = encodeQuery(record, query);
  if (fragment !== null) record.fragment = encode(fragment, FRAGMENT);
  return record;
}

/** Splits off the fragment and the query. */
function cut(text) {
  const hash = text.indexOf('#');
  const fragment = hash < 0 ? null : text.slice(hash + 1);
  const rest = hash < 0 ? text : text.slice(0, hash);
  const mark = rest.indexOf('?');
  return {
    body: mark < 0 ? rest : rest.slice(0, mark),
    query: mark < 0 ? null : rest.slice(mark + 1),
    fragment,
  };
}

export function encodeQuery(record, query) {
  return encode(query, isSpecial(record) ? SPECIAL_QUERY : QUERY);
}

/** After a scheme and its colon. */
function absolute(scheme, rest, base, query) {
  const record = empty(scheme);
  if (scheme === 'file')
    return file(record, rest, base !== null && base.scheme === 'file' ? base : null, query);
  if (isSpecial(record)) {
    if (base !== null && base.scheme === scheme && !/^[/\\]{2}/.test(rest)) {
      return /^[/\\]/.test(rest) || typeof base.path !== 'string'
        ? relative(rest, query, base)
        : null;
    }
    return authority(record, rest.replace(/^[/\\]*/, ''));
  }
  if (rest.startsWith('//')) return authority(record, rest.slice(2));
  if (rest.startsWith('/')) {
    record.path = parsePath(record, [], rest);
    return record;
  }
  // An opaque path keeps what it has, but a blank at its end would be lost to a later reader.
  record.path = encode(rest, CONTROL).replace(/ $/, query === null ? '%20' : ' ');
  return record;
}

/** Without a scheme: everything that is not there comes from the base. */
function relative(rest, query, base) {
  if (base === null) return null;
  if (typeof base.path === 'string') {
    return rest === '' && query === null ? { ...base, fragment: null } : null;
  }
  if (base.scheme === 'file') return file(empty('file'), rest, base, query);
  const slash = isSpecial(base) ? /^[/\\]/ : /^\//;
  const record = { ...base, path: [...base.path], query: null, fragment: null };
  if (slash.test(rest)) {
    const second = rest.slice(1);
    if (slash.test(second)) {
      const fresh = empty(base.scheme);
      return authority(fresh, isSpecial(base) ? second.replace(/^[/\\]*/, '') : second.slice(1));
    }
    record.path = parsePath(record, [], rest);
    return record;
  }
  if (rest === '') {
    record.query = query === null ? base.query : null;
    return record;
  }
  shorten(record);
  record.path = parsePath(record, record.path, `/${rest}`);
  return record;
}

/** The file states: hosts may be missing, and letters of Windows' drives are kept. */
function file(record, rest, base, query) {
  record.host = '';
  const slash = /^[/\\]/;
  if (slash.test(rest)) {
    const second = rest.slice(1);
    if (slash.test(second)) return fileHost(record, second.slice(1));
    if (base !== null) {
      record.host = base.host;
      const [first] = base.path;
      if (!startsWithWindowsLetter(second) && first !== undefined && /^[a-z]:$/i.test(first)) {
        record.path = [first];
      }
    }
    record.path = parsePath(record, record.path, rest);
    return record;
  }
  if (base === null) {
    record.path = parsePath(record, [], rest === '' ? '/' : `/${rest}`);
    return record;
  }
  Object.assign(record, { host: base.host, path: [...base.path], query: base.query });
  if (rest === '') {
    if (query !== null) record.query = null;
    return record;
  }
  record.query = null;
  if (startsWithWindowsLetter(rest)) record.path = [];
  else shorten(record);
  record.path = parsePath(record, record.path, `/${rest}`);
  return record;
}

function fileHost(record, rest) {
  const end = rest.search(/[/\\]/);
  const text = end < 0 ? rest : rest.slice(0, end);
  if (isWindowsLetter(text)) {
    record.path = parsePath(record, [], `/${rest}`);
    return record;
  }
  if (text !== '') {
    const host = parseHost(text, true);
    if (host === null) return null;
    record.host = host === 'localhost' ? '' : host;
  }
  record.path = parsePath(record, [], end < 0 ? '/' : rest.slice(end));
  return record;
}

/** Credentials, host and port, then the path. */
function authority(record, rest) {
  const end = rest.search(isSpecial(record) ? /[/\\]/ : /\//);
  const text = end < 0 ? rest : rest.slice(0, end);
  const at = text.lastIndexOf('@');
  if (at >= 0) {
    const [, name, password] = /^([^:]*):?(.*)$/s.exec(text.slice(0, at));
    record.username = encode(name, USERINFO);
    record.password = encode(password, USERINFO);
  }
  const where = text.slice(at + 1);
  if (where === '' && (at >= 0 || isSpecial(record))) return null;
  if (!parseHostAndPort(record, where)) return null;
  const path = end < 0 ? '' : rest.slice(end);
  record.path = parsePath(record, [], path === '' && isSpecial(record) ? '/' : path);
  return record;
}

/** False if they are none. */
export function parseHostAndPort(record, text) {
  const parts = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text);
  if (parts === null || (parts[1] === '' && (isSpecial(record) || parts[2] !== undefined)))
    return false;
  const host = parts[1] === '' ? '' : parseHost(parts[1], isSpecial(record));
  if (host === null) return false;
  const port = parsePort(record, parts[2] || '');
  if (port === undefined) return false;
  record.host = host;
  record.port = port;
  return true;
}

/** null for the scheme's own port or none, undefined if it is wrong. */
export function parsePort(record, text) {
  if (text === '') return null;
  if (!/^\d+$/.test(text) || Number(text) > 65535) return undefined;
  return Number(text) === PORTS[record.scheme] ? null : Number(text);
}

/** Segments after those that are there already; `text` begins with a slash, or is empty. */
export function parsePath(record, before, text) {
  if (text === '') return [...before];
  const special = isSpecial(record);
  const segments = text.slice(1).split(special ? /[/\\]/ : '/');
  const scratch = { scheme: record.scheme, path: [...before] };
  segments.forEach((segment, at) => {
    const isLast = at === segments.length - 1;
    if (isDoubleDot(segment)) {
      shorten(scratch);
      if (isLast) scratch.path.push('');
    } else if (isSingleDot(segment)) {
      if (isLast) scratch.path.push('');
    } else if (record.scheme === 'file' && scratch.path.length === 0 && isWindowsLetter(segment)) {
      scratch.path.push(`${segment[0]}:`);
    } else {
      scratch.path.push(encode(segment, PATH));
    }
  });
  return scratch.path;
}

/** Takes the last segment away, but not a drive's letter. */
function shorten(record) {
  const { path } = record;
  if (record.scheme === 'file' && path.length === 1 && /^[a-z]:$/i.test(path[0])) return;
  path.pop();
}

export function serialize(record) {
  let text = `${record.scheme}:`;
  if (record.host !== null) {
    text += '//';
    if (record.username !== '' || record.password !== '') {
      text += record.username + (record.password === '' ? '' : `:${record.password}`) + '@';
    }
    text += serializeHost(record.host) + (record.port === null ? '' : `:${record.port}`);
  } else if (typeof record.path !== 'string' && record.path.length > 1 && record.path[0] === '') {
    text += '/.';
  }
  text +=
    typeof record.path === 'string' ? record.path : record.path.map((it) => `/${it}`).join('');
  if (record.query !== null) text += `?${record.query}`;
  if (record.fragment !== null) text += `#${record.fragment}`;
  return text;
}
