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
      places: { delimiter: -1, newline: -1 },
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
    const end = Math.min(
      this.next('delimiter', delimiter),
      this.next('newline', newline),
      text.length,
    );
    const value = text.slice(this.at, end);
    this.at = end;
    return value;
  }

  /** Where that text comes next; it is not sought again before that place. */
  next(name, sought) {
    if (this.places[name] < this.at) {
      const found = this.text.indexOf(sought, this.at);
      this.places[name] = found < 0 ? Infinity : found;
    }
    return this.places[name];
  }

  quoted() {
    const { text, settings } = this;
    const { quoteChar, escapeChar } = settings;
    const begin = this.at + 1;
    let value = '';
    let from = begin;
    for (;;) {
      const quote = text.indexOf(quoteChar, from);
      const isEscaped =
        escapeChar === quoteChar
          ? quote >= 0 && text[quote + 1] === quoteChar
          : quote > from && text[quote - 1] === escapeChar;
      if (isEscaped) {
        const first = escapeChar === quoteChar ? quote : quote - 1;
        value += text.slice(from, first) + quoteChar;
        from = first + 2;
        continue;
      }
      if (quote < 0) {
        this.wrong('MissingQuotes', 'Quoted field unterminated', begin);
        value += text.slice(from);
        this.at = text.length;
        return value;
      }
      const after = this.endAfter(quote + 1);
      if (after >= 0) {
        this.at = after;
        return value + text.slice(from, quote);
      }
      this.wrong('InvalidQuotes', 'Trailing quote on quoted field is malformed', begin);
      value += text.slice(from, quote + 1);
      from = quote + 1;
    }
  }

  /** Where a quoted field ends whose quote stands before `at`, blanks left out; -1 if it goes on. */
  endAfter(at) {
    const { text, settings } = this;
    for (let end = at; ; end += 1) {
      if (end >= text.length) return text.length;
      if (text.startsWith(settings.delimiter, end) || text.startsWith(settings.newline, end)) {
        return end;
      }
      if (text[end] !== ' ') return -1;
    }
  }

  wrong(code, message, index) {
    this.settings.errors.push({ type: 'Quotes', code, message, row: this.rows.length, index });
  }
}
