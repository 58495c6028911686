// CSV by the public interface of Papa Parse: `Papa.parse(text, config)`, `Papa.unparse(rows,
// config)`.
//
// Parsing is of texts and at once: what reads files, streams or workers has no place here.
import { BAD_DELIMITERS, guessDelimiter, guessLineBreak } from './papaparse/guess.js';
import { shape } from './papaparse/shape.js';
import { tokenize } from './papaparse/tokenize.js';
import { unparse } from './papaparse/unparse.js';

const RECORD_SEP = String.fromCharCode(30);
const UNIT_SEP = String.fromCharCode(31);
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Rows of a text: `{ data, errors, meta }`. With `step`, `chunk` or `complete` in the configuration
 * they are called, and `data` is empty where rows were handed to `step`.
 */
export function parse(input, config = {}) {
  if (typeof input !== 'string') {
    throw new Error('only texts can be parsed: read the file by open() first');
  }
  const text = input.startsWith(BYTE_ORDER_MARK) ? input.slice(1) : input;
  const settings = understood(text, config);
  const raw = tokenize(text, settings);
  const result = shape(raw, settings);
  result.meta = {
    delimiter: settings.delimiter,
    linebreak: settings.newline,
    aborted: false,
    truncated: raw.truncated,
    cursor: raw.cursor,
    ...result.meta,
  };
  return hand(result, config);
}

function understood(text, config) {
  const settings = { quoteChar: '"', ...config };
  if (settings.escapeChar === undefined || settings.escapeChar === null)
    settings.escapeChar = settings.quoteChar;
  settings.comments = config.comments === true ? '#' : config.comments || false;
  settings.newline = ['\n', '\r', '\r\n'].includes(config.newline)
    ? config.newline
    : guessLineBreak(text, settings.quoteChar);
  settings.errors = [];
  const { delimiter } = config;
  if (typeof delimiter === 'function') settings.delimiter = delimiter(text);
  else if (typeof delimiter === 'string' && delimiter !== '') settings.delimiter = delimiter;
  else {
    const guess = guessDelimiter(text, settings);
    settings.delimiter = guess || Papa.DefaultDelimiter;
    if (guess === null) {
      settings.errors.push({
        type: 'Delimiter',
        code: 'UndetectableDelimiter',
        message: `Unable to auto-detect delimiting character; defaulted to '${Papa.DefaultDelimiter}'`,
      });
    }
  }
  if (BAD_DELIMITERS.includes(settings.delimiter)) settings.delimiter = Papa.DefaultDelimiter;
  return settings;
}

/** Calls back, row by row where that is asked for. */
function hand(result, config) {
  let stopped = false;
  const control = {
    abort() {
      stopped = true;
      result.meta.aborted = true;
    },
    pause() {},
    resume() {},
  };
  if (typeof config.step === 'function') {
    const { data, errors } = result;
    result.data = [];
    for (let at = 0; at < data.length && !stopped; at++) {
      const own = errors.filter((it) => it.row === at);
      config.step({ data: data[at], errors: own, meta: result.meta }, control);
    }
  } else if (typeof config.chunk === 'function') {
    config.chunk(result, control);
  }
  if (typeof config.complete === 'function') config.complete(result);
  return result;
}

const Papa = {
  parse,
  unparse,
  RECORD_SEP,
  UNIT_SEP,
  BYTE_ORDER_MARK,
  BAD_DELIMITERS,
  WORKERS_SUPPORTED: false,
  DefaultDelimiter: ',',
};

export { unparse };
export default Papa;
