// Percent-encoding by the sets of the URL standard, section 1.3.
import { fromUtf8, utf8 } from '../shared/bytes.js';

const make = (more, base) =>
  new Set([...(base || []), ...Array.from(more, (it) => it.charCodeAt(0))]);

/** Besides these, each set has the controls and whatever is beyond `~`. */
export const FRAGMENT = make(' "<>`');
export const QUERY = make(' "#<>');
export const SPECIAL_QUERY = make("'", QUERY);
export const PATH = make('?^`{}', QUERY);
export const USERINFO = make('/:;=@[\\]|', PATH);
export const COMPONENT = make('$%&+,', USERINFO);
export const FORM = make("!'()~", COMPONENT);
export const CONTROL = new Set();

const hex = (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;

/** A text whose bytes in `set` are written as `%XX`. */
export function encode(text, set) {
  let out = '';
  for (const byte of utf8(text)) {
    out += byte <= 0x1f || byte > 0x7e || set.has(byte) ? hex(byte) : String.fromCharCode(byte);
  }
  return out;
}

/** Bytes of a text in which `%XX` are bytes. */
export function decodeBytes(text) {
  const bytes = utf8(text);
  const out = [];
  for (let at = 0; at < bytes.length; at++) {
    const digits = String.fromCharCode(bytes[at + 1] || 0, bytes[at + 2] || 0);
    if (bytes[at] === 0x25 && /^[0-9a-f]{2}$/i.test(digits)) {
      out.push(parseInt(digits, 16));
      at += 2;
    } else {
      out.push(bytes[at]);
    }
  }
  return new Uint8Array(out);
}

export const decode = (text) => fromUtf8(decodeBytes(text));
