// Texts and bytes, without TextEncoder, which older engines lack.

/** UTF-8 of a text; lone surrogates become U+FFFD. */
export function utf8(text) {
  const bytes = [];
  for (const letter of text) {
    let point = letter.codePointAt(0);
    if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
    else if (point < 0x10000) {
      bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    } else {
      bytes.push(
        0xf0 | (point >> 18),
        0x80 | ((point >> 12) & 63),
        0x80 | ((point >> 6) & 63),
        0x80 | (point & 63),
      );
    }
  }
  return new Uint8Array(bytes);
}

/** The text of UTF-8; wrong bytes become U+FFFD, as the encoding standard has it. */
export function fromUtf8(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at];
    at += 1;
    if (first < 0x80) {
      text += String.fromCharCode(first);
      continue;
    }
    const more =
      first >= 0xc2 && first <= 0xdf
        ? 1
        : (first & 0xf0) === 0xe0
          ? 2
          : first >= 0xf0 && first <= 0xf4
            ? 3
            : 0;
    let low = { 0xe0: 0xa0, 0xf0: 0x90 }[first] || 0x80;
    let high = { 0xed: 0x9f, 0xf4: 0x8f }[first] || 0xbf;
    let point = more === 0 ? -1 : first & (0x3f >> more);
    for (let left = more; left > 0; left--) {
      if (!(bytes[at] >= low && bytes[at] <= high)) {
        point = -1;
        break;
      }
      point = (point << 6) | (bytes[at] & 63);
      at += 1;
      low = 0x80;
      high = 0xbf;
    }
    text += point < 0 ? '\ufffd' : String.fromCodePoint(point);
  }
  return text;
}

/** Bytes of a text, an ArrayBuffer or a view of one. */
export function bytesOf(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value))
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return utf8(String(value));
}
