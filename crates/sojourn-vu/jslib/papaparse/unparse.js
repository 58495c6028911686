// Rows to a text.

/**
 * CSV of an array of arrays, an array of objects, or `{ fields, data }`; a text of JSON is read
 * first.
 */
export function unparse(input, config = {}) {
  const settings = {
    quotes: false,
    quoteChar: '"',
    delimiter: ',',
    newline: '\r\n',
    header: true,
    skipEmptyLines: false,
    ...config,
  };
  if (typeof settings.escapeChar !== 'string') settings.escapeChar = settings.quoteChar;
  const data = typeof input === 'string' ? JSON.parse(input) : input;
  if (Array.isArray(data)) {
    if (data.length === 0 || Array.isArray(data[0])) return write(null, data, settings);
    if (data[0] !== null && typeof data[0] === 'object')
      return write(settings.columns || Object.keys(data[0]), data, settings);
  } else if (data !== null && typeof data === 'object') {
    let rows = typeof data.data === 'string' ? JSON.parse(data.data) : data.data;
    rows = rows || [];
    if (!Array.isArray(rows)) rows = [rows];
    if (
      rows.length > 0 &&
      !Array.isArray(rows[0]) &&
      (rows[0] === null || typeof rows[0] !== 'object')
    )
      rows = [rows];
    const fields =
      data.fields || (rows.length > 0 && !Array.isArray(rows[0]) ? Object.keys(rows[0]) : null);
    return write(fields, rows, settings);
  }
  throw new Error('unable to serialize unrecognized input');
}

function write(fields, rows, settings) {
  const lines = [];
  if (fields !== null && settings.header) lines.push(line(fields, settings));
  for (const row of rows) {
    const values = Array.isArray(row) ? row : (fields || []).map((name) => row[name]);
    if (settings.skipEmptyLines && isEmpty(values, row, settings)) continue;
    lines.push(line(values, settings));
  }
  return lines.join(settings.newline);
}

function isEmpty(values, row, settings) {
  const texts = values.map((it) => (it === undefined || it === null ? '' : String(it)));
  if (settings.skipEmptyLines === 'greedy') return texts.join('').trim() === '';
  return Array.isArray(row) ? texts.length === 1 && texts[0] === '' : Object.keys(row).length === 0;
}

function line(values, settings) {
  return values.map((value, at) => cell(value, at, settings)).join(settings.delimiter);
}

function cell(value, at, settings) {
  if (value === undefined || value === null) return '';
  if (value instanceof Date) return JSON.stringify(value).slice(1, 25);
  let text = String(value);
  let isFormula = false;
  const formulae = settings.escapeFormulae === true ? /^[=+\-@\t\r].*$/ : settings.escapeFormulae;
  if (formulae && typeof value === 'string' && formulae.test(text)) {
    text = `'${text}`;
    isFormula = true;
  }
  const { quoteChar, escapeChar, delimiter, quotes } = settings;
  const wish =
    typeof quotes === 'function' ? quotes(value, at) : Array.isArray(quotes) ? quotes[at] : quotes;
  const mustQuote =
    wish ||
    isFormula ||
    [delimiter, '\r', '\n', quoteChar, '\ufeff'].some((it) => text.includes(it)) ||
    text.startsWith(' ') ||
    text.endsWith(' ');
  const escaped = text.split(quoteChar).join(escapeChar + quoteChar);
  return mustQuote ? quoteChar + escaped + quoteChar : escaped;
}
