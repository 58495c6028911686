// Domain names to ASCII: lower case, NFKC, and Punycode (RFC 3492) for what is left.
//
// The tables of UTS #46 are not here: of the names that registries allow, NFKC and lower case make
// the same.

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;

function adapt(delta, points, isFirst) {
  let left = isFirst ? Math.floor(delta / 700) : delta >> 1;
  left += Math.floor(left / points);
  let k = 0;
  for (; left > ((BASE - T_MIN) * T_MAX) >> 1; k += BASE) left = Math.floor(left / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * left) / (left + 38));
}

const digit = (value) => String.fromCharCode(value < 26 ? value + 97 : value + 22);

/** RFC 3492, section 6.3. */
function punycode(label) {
  const points = Array.from(label, (it) => it.codePointAt(0));
  const plain = points.filter((it) => it < 0x80);
  let out = String.fromCharCode(...plain) + (plain.length > 0 ? '-' : '');
  let handled = plain.length;
  let n = 0x80;
  let delta = 0;
  let bias = 72;
  while (handled < points.length) {
    const next = Math.min(...points.filter((it) => it >= n));
    delta += (next - n) * (handled + 1);
    n = next;
    for (const point of points) {
      if (point < n) delta += 1;
      if (point !== n) continue;
      let q = delta;
      for (let k = BASE; ; k += BASE) {
        const t = Math.min(Math.max(k - bias, T_MIN), T_MAX);
        if (q < t) break;
        out += digit(t + ((q - t) % (BASE - t)));
        q = Math.floor((q - t) / (BASE - t));
      }
      out += digit(q);
      bias = adapt(delta, handled + 1, handled === plain.length);
      delta = 0;
      handled += 1;
    }
    delta += 1;
    n += 1;
  }
  return out;
}

/** The name as it is asked for, null if it can't be one. */
export function toAscii(domain) {
  const mapped = domain
    .replace(/\u00ad|\u200b|\u2060|\ufeff/g, '')
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFC')
    .replace(/\u3002/g, '.');
  if (mapped.includes('\ufffd')) return null;
  return mapped
    .split('.')
    .map((label) => {
      // eslint-disable-next-line no-control-regex
      return /^[\0-\x7f]*$/.test(label) ? label : `xn--${punycode(label)}`;
    })
    .join('.');
}
