// Texts to rows of texts (RFC 4180, and what is met beyond it).

/**
 * `{ rows, starts, cursor, truncated }`; what is wrong goes to `settings.errors`. Of `preview` rows
 * more are read where there is a header.
 */
export function tokenize(text, settings) {
  const reader = new Reader(text, settings);
  const most = settings.preview > 0 ? settings.preview + (settings.header ? 1 : 0) : Infinity;
  while (reader.at < text.length && reader.rows.length < most) reader.row();
  const isCut = reader.at < text.length;
  // A delimiter or line break at the very end begins one more field or row.
  if (!isCut && reader.rows.length < most && (text === '' ? false : reader.endsOpen))
    reader.rows.push(['']);
  return { rows: reader.rows, cursor: reader.at, truncated: isCut };
}

class Reader {
  constructor(text, settings) {
    Object.assign(this, {
      text,
      settings,
      at: 0,
      rows: [],
      endsOpen: false,
    });
  }

  row() {
    const { text, settings } = this;
    const { delimiter, newline, comments } = settings;
    if (comments && text.startsWith(comments, this.at)) {
      const end = text.indexOf(newline, this.at);
      this.at = end < 0 ? text.length : end + newline.length;
      this.endsOpen = false;
      return;
    }
    const row = [];
    for (;;) {
      row.push(this.field());
      if (text.startsWith(delimiter, this.at) && this.at < text.length) {
        this.at += delimiter.length;
        if (this.at === text.length) {
          row.push('');
          this.endsOpen = false;
          break;
        }
        continue;
      }
      this.endsOpen = text.startsWith(newline, this.at) && this.at + newline.length === text.length;
      this.at = Math.min(this.at + newline.length, text.length);
      break;
    }
    this.rows.push(row);
  }

  /** One field; afterwards the place is a delimiter's, a line break's or the end. */
  field() {
    const { text, settings } = this;
    const { quoteChar, delimiter, newline } = settings;
    if (quoteChar && text.startsWith(quoteChar, this.at)) return this.quoted();
    const ends = [text.indexOf(delimiter, this.at), text.indexOf(newline, this.at)].filter(
      (it) => it >= 0,
    );
    const end = ends.length > 0 ? Math.min(...ends) : text.length;
    const value = text.slice(this.at, end);
    this.at = end;
    return value;
  }

  quoted() {
    const { text, settings } = this;
    const { quoteChar, escapeChar, delimiter, newline } = settings;
    const begin = this.at + 1;
    let value = '';
    let from = begin;
    for (;;) {
      let quote = text.indexOf(quoteChar, from);
      if (escapeChar !== quoteChar) {
        const escape = text.indexOf(escapeChar + quoteChar, from);
        if (escape >= 0 && (quote < 0 || escape < quote)) {
          value += text.slice(from, escape) + quoteChar;
          from = escape + 2;
          continue;
        }
      } else if (quote >= 0 && text[quote + 1] === quoteChar) {
        value += text.slice(from, quote) + quoteChar;
        from = quote + 2;
        continue;
      }
      if (quote < 0) {
        this.wrong('MissingQuotes', 'Quoted field unterminated', begin);
        value += text.slice(from);
        this.at = text.length;
        return value;
      }
      const blanks = /^[^\S\r\n\t]*/.exec(text.slice(quote + 1, quote + 64))[0].length;
      for (const skipped of [0, blanks]) {
        const after = quote + 1 + skipped;
        if (
          after >= text.length ||
          text.startsWith(delimiter, after) ||
          text.startsWith(newline, after)
        ) {
          this.at = Math.min(after, text.length);
          return value + text.slice(from, quote);
        }
      }
      this.wrong('InvalidQuotes', 'Trailing quote on quoted field is malformed', begin);
      value += text.slice(from, quote + 1);
      from = quote + 1;
    }
  }

  wrong(code, message, index) {
    this.settings.errors.push({ type: 'Quotes', code, message, row: this.rows.length, index });
  }
}
