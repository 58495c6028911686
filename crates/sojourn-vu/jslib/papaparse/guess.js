// Guesses: which line break and which delimiter a text has.
import { tokenize } from './tokenize.js';

export const BAD_DELIMITERS = ['\r', '\n', '"', '\ufeff'];
const CANDIDATES = [',', '\t', '|', ';', String.fromCharCode(30), String.fromCharCode(31)];
/** So much of a text is looked at. */
const LOOKED_AT = 1024 * 1024;

/** The line break of a text, by what stands outside of quotes. */
export function guessLineBreak(text, quote) {
  let plain = text.slice(0, LOOKED_AT);
  if (quote) {
    const it = quote.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    plain = plain.replace(new RegExp(`${it}([^]*?)${it}`, 'g'), '');
  }
  const returns = plain.split('\r');
  const feeds = plain.split('\n');
  const isFeedFirst = feeds.length > 1 && feeds[0].length < returns[0].length;
  if (returns.length === 1 || isFeedFirst) return '\n';
  const followed = returns.filter((it, at) => at > 0 && it[0] === '\n').length;
  return followed >= (returns.length - 1) / 2 ? '\r\n' : '\r';
}

/**
 * The delimiter by which ten rows have most alike numbers of fields, and two or more on average;
 * null if there is none.
 */
export function guessDelimiter(text, settings) {
  const head = text.slice(0, LOOKED_AT);
  let best = null;
  for (const delimiter of settings.delimitersToGuess || CANDIDATES) {
    const { rows } = tokenize(head, {
      ...settings,
      delimiter,
      preview: 10,
      errors: [],
      header: false,
    });
    const counts = rows
      .filter((row) => row.length > 1 || row[0].trim() !== '')
      .map((row) => row.length);
    if (counts.length === 0) continue;
    const spread = counts.reduce(
      (sum, it, at) => sum + (at === 0 ? 0 : Math.abs(it - counts[at - 1])),
      0,
    );
    const average = counts.reduce((sum, it) => sum + it, 0) / counts.length;
    if (average < 1.99) continue;
    if (
      best === null ||
      spread < best.spread ||
      (spread === best.spread && average > best.average)
    ) {
      best = { delimiter, spread, average };
    }
  }
  return best === null ? null : best.delimiter;
}
