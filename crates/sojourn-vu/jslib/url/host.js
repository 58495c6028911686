// Hosts: domains, IPv4 and IPv6 addresses (URL standard, section 3).
import { CONTROL, decode, encode } from './percent.js';
import { toAscii } from './punycode.js';

const FORBIDDEN = /[\0\t\n\r #/:<>?@[\\\]^|]/;
const FORBIDDEN_DOMAIN = /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/;

/** A host: a text, or `{ pieces }` for IPv6; null if it is none. */
export function parseHost(text, isSpecial) {
  if (text.startsWith('[')) return text.endsWith(']') ? parseIpv6(text.slice(1, -1)) : null;
  if (!isSpecial) return FORBIDDEN.test(text) ? null : encode(text, CONTROL);
  const domain = toAscii(decode(text));
  if (domain === null || domain === '' || FORBIDDEN_DOMAIN.test(domain)) return null;
  return endsInNumber(domain) ? parseIpv4(domain) : domain;
}

export function serializeHost(host) {
  return typeof host === 'string' ? host : `[${serializeIpv6(host.pieces)}]`;
}

function labels(domain) {
  const parts = domain.split('.');
  if (parts.length > 1 && parts[parts.length - 1] === '') parts.pop();
  return parts;
}

function endsInNumber(domain) {
  const last = labels(domain).pop();
  return /^\d+$/.test(last) || /^0x[0-9a-f]*$/i.test(last);
}

function number(part) {
  if (part === '') return null;
  if (/^0x/i.test(part))
    return /^0x[0-9a-f]*$/i.test(part) ? parseInt(`0${part.slice(2)}`, 16) : null;
  if (part.length > 1 && part[0] === '0') return /^[0-7]+$/.test(part) ? parseInt(part, 8) : null;
  return /^\d+$/.test(part) ? parseInt(part, 10) : null;
}

function parseIpv4(domain) {
  const parts = labels(domain);
  if (parts.length > 4) return null;
  const numbers = parts.map(number);
  if (numbers.includes(null)) return null;
  const last = numbers.pop();
  if (numbers.some((it) => it > 255) || last >= 256 ** (4 - numbers.length)) return null;
  const whole = numbers.reduce((sum, it, at) => sum + it * 256 ** (3 - at), last);
  return [24, 16, 8, 0].map((shift) => Math.floor(whole / 2 ** shift) % 256).join('.');
}

function parseIpv6(text) {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const read = (half, isEnd) => {
    if (half === '') return [];
    const pieces = [];
    const parts = half.split(':');
    for (let at = 0; at < parts.length; at++) {
      if (isEnd && at === parts.length - 1 && parts[at].includes('.')) {
        const bytes = parts[at].split('.');
        if (
          bytes.length !== 4 ||
          !bytes.every((it) => /^(0|[1-9]\d{0,2})$/.test(it) && Number(it) < 256)
        )
          return null;
        pieces.push(
          Number(bytes[0]) * 256 + Number(bytes[1]),
          Number(bytes[2]) * 256 + Number(bytes[3]),
        );
      } else if (/^[0-9a-f]{1,4}$/i.test(parts[at])) {
        pieces.push(parseInt(parts[at], 16));
      } else {
        return null;
      }
    }
    return pieces;
  };
  const before = read(halves[0], halves.length === 1);
  const after = halves.length === 2 ? read(halves[1], true) : [];
  if (before === null || after === null) return null;
  const missing = 8 - before.length - after.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  return { pieces: [...before, ...new Array(missing).fill(0), ...after] };
}

/** The longest run of zeros, if it has two or more, is written `::`; of alike ones the first. */
function serializeIpv6(pieces) {
  let best = { at: -1, length: 1 };
  for (let at = 0; at < 8; at++) {
    let length = 0;
    while (at + length < 8 && pieces[at + length] === 0) length += 1;
    if (length > best.length) best = { at, length };
    at += length;
  }
  const write = (part) => part.map((it) => it.toString(16)).join(':');
  if (best.at < 0) return write(pieces);
  return `${write(pieces.slice(0, best.at))}::${write(pieces.slice(best.at + best.length))}`;
}
