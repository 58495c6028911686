// Rows of texts to what a configuration asks for: objects by header, numbers and booleans, no
// empty lines.

const NUMBER = /^\s*-?(\d+\.?|\.\d+|\d+\.\d+)([eE][-+]?\d+)?\s*$/;
const DATE = /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-][0-2]\d:[0-5]\d)$/;

/** `{ data, errors, meta: { fields, renamedHeaders } }` of rows. */
export function shape({ rows }, settings) {
  const isEmpty = (row) =>
    settings.skipEmptyLines === 'greedy'
      ? row.join('').trim() === ''
      : row.length === 1 && row[0].length === 0;
  const kept = settings.skipEmptyLines ? rows.filter((row) => !isEmpty(row)) : rows;
  const meta = {};
  let body = kept;
  if (settings.header && kept.length > 0) {
    Object.assign(meta, header(kept[0], settings));
    body = kept.slice(1);
  }
  const data = body.map((row, at) =>
    (settings.header ? object : list)(row, at, meta.fields, settings),
  );
  if (settings.preview > 0) data.length = Math.min(data.length, settings.preview);
  const errors = settings.header
    ? settings.errors.map((it) => (it.type === 'Quotes' ? { ...it, row: it.row - 1 } : it))
    : settings.errors;
  return { data, errors, meta };
}

/** Names of fields; one that comes again has `_1`, `_2` … behind it. */
function header(row, settings) {
  const seen = new Map();
  const renamedHeaders = {};
  const fields = row.map((name, at) => {
    const wanted =
      typeof settings.transformHeader === 'function' ? settings.transformHeader(name, at) : name;
    if (!seen.has(wanted)) {
      seen.set(wanted, 0);
      return wanted;
    }
    let count = seen.get(wanted);
    let unique;
    do {
      count += 1;
      unique = `${wanted}_${count}`;
    } while (seen.has(unique) || row.includes(unique));
    seen.set(wanted, count);
    seen.set(unique, 0);
    renamedHeaders[unique] = wanted;
    return unique;
  });
  return { fields, renamedHeaders: Object.keys(renamedHeaders).length > 0 ? renamedHeaders : null };
}

const list = (row, at, fields, settings) =>
  row.map((value, column) => field(value, column, settings));

function object(row, at, fields, settings) {
  const result = {};
  row.forEach((text, column) => {
    const name = column < fields.length ? fields[column] : '__parsed_extra';
    const value = field(text, name, settings);
    if (column < fields.length) {
      result[name] = value;
      return;
    }
    result[name] = result[name] || [];
    result[name].push(value);
  });
  if (row.length !== fields.length) {
    const isMore = row.length > fields.length;
    settings.errors.push({
      type: 'FieldMismatch',
      code: isMore ? 'TooManyFields' : 'TooFewFields',
      message: `Too ${isMore ? 'many' : 'few'} fields: expected ${fields.length} fields but parsed ${row.length}`,
      row: at,
    });
  }
  return result;
}

function field(text, name, settings) {
  const value = typeof settings.transform === 'function' ? settings.transform(text, name) : text;
  const wish = settings.dynamicTyping;
  const isTyped =
    typeof wish === 'function'
      ? wish(name)
      : wish !== null && typeof wish === 'object'
        ? wish[name]
        : wish;
  return isTyped && typeof value === 'string' ? typed(value) : value;
}

/** Booleans, numbers that a double holds exactly, ISO dates; an empty text is null. */
function typed(text) {
  if (text === 'true' || text === 'TRUE') return true;
  if (text === 'false' || text === 'FALSE') return false;
  if (text === '') return null;
  if (NUMBER.test(text)) {
    const number = parseFloat(text);
    if (number > -(2 ** 53) && number < 2 ** 53) return number;
    return text;
  }
  return DATE.test(text) ? new Date(text) : text;
}
