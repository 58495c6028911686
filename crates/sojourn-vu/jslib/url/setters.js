// What happens when a member of a URL is set (URL standard, section 6.1): wrong values change
// nothing.
import { encodeQuery, isSpecial, parseHostAndPort, parsePath, parsePort } from './parser.js';
import { encode, FRAGMENT, USERINFO } from './percent.js';

const hasNoPort = (record) =>
  record.host === null || record.host === '' || record.scheme === 'file';

/** Sets `member` of a record. */
export function change(record, member, value) {
  // eslint-disable-next-line no-control-regex
  const text = value.replace(/[\t\n\r]/g, '');
  const setter = setters[member];
  setter(record, text);
}

const setters = {
  protocol(record, text) {
    const scheme = /^([a-z][a-z0-9+.-]*)(:|$)/i.exec(text);
    if (scheme === null) return;
    const next = { ...record, scheme: scheme[1].toLowerCase() };
    if (isSpecial(next) !== isSpecial(record)) return;
    if (next.scheme === 'file' && (record.username || record.password || record.port !== null))
      return;
    if (record.scheme === 'file' && record.host === '') return;
    record.scheme = next.scheme;
    record.port = parsePort(record, record.port === null ? '' : String(record.port));
  },

  username(record, text) {
    if (!hasNoPort(record)) record.username = encode(text, USERINFO);
  },

  password(record, text) {
    if (!hasNoPort(record)) record.password = encode(text, USERINFO);
  },

  host(record, text) {
    if (typeof record.path === 'string') return;
    const part = text.split(isSpecial(record) ? /[/\\?#]/ : /[/?#]/)[0];
    const next = { ...record };
    // A port that is wrong leaves the host that stands before it.
    const hostOnly = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?/.exec(part);
    const port = hostOnly[2] === undefined || hostOnly[2] === '' ? '' : `:${hostOnly[2]}`;
    if (!parseHostAndPort(next, hostOnly[1] + port)) return;
    record.host = next.host;
    if (port !== '') record.port = next.port;
  },

  hostname(record, text) {
    if (typeof record.path === 'string') return;
    const part = text.split(isSpecial(record) ? /[/\\?#]/ : /[/?#]/)[0];
    if (/^[^[]*:/.test(part)) return;
    const next = { ...record };
    if (parseHostAndPort(next, part)) record.host = next.host;
  },

  port(record, text) {
    if (hasNoPort(record)) return;
    const digits = /^\d*/.exec(text)[0];
    if (digits === '' && text !== '') return;
    const port = parsePort(record, digits);
    if (port !== undefined) record.port = port;
  },

  pathname(record, text) {
    if (typeof record.path === 'string') return;
    const slash = isSpecial(record) ? /^[/\\]/ : /^\//;
    const path = text.replace(/[?#]/g, (it) => (it === '?' ? '%3F' : '%23'));
    record.path = parsePath(record, [], slash.test(path) ? path : `/${path}`);
  },

  search(record, text) {
    record.query = text === '' ? null : encodeQuery(record, text.replace(/^\?/, ''));
  },

  hash(record, text) {
    record.fragment = text === '' ? null : encode(text.replace(/^#/, ''), FRAGMENT);
  },
};
