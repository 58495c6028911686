// Values as people read them: bytes with prefixes, times with units, shares in per cent.

/** Digits behind the point, without the zeros at its end; what is very small is left as it is. */
export function toFixedNoTrailingZeros(value, digits) {
  return parseFloat(value.toFixed(digits)).toString();
}

/** Cut off instead of rounded, so that 99.999 % are not 100 %. */
function truncated(value, digits) {
  const factor = 10 ** digits;
  return toFixedNoTrailingZeros(Math.trunc(factor * value) / factor, digits);
}

const PREFIXES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];

function bytes(value) {
  if (value < 10) return `${value} B`;
  const power = Math.floor(Math.log(value) / Math.log(1000));
  const shown = Math.floor((value / 1000 ** power) * 10 + 0.5) / 10;
  return `${toFixedNoTrailingZeros(shown, shown < 10 ? 1 : 0)} ${PREFIXES[power]}`;
}

const UNITS = { s: [0.001, 's'], ms: [1, 'ms'], us: [1000, 'µs'] };

/** A time in milliseconds, in a fixed unit or in the one that fits. */
function time(value, unit) {
  if (UNITS[unit]) return `${(value * UNITS[unit][0]).toFixed(2)}${UNITS[unit][1]}`;
  if (value === 0) return '0s';
  if (value < 0.001) return `${Math.trunc(value * 1000000)}ns`;
  if (value < 1) return `${truncated(value * 1000, 2)}µs`;
  if (value < 1000) return `${truncated(value, 2)}ms`;
  if (value < 60000) return `${truncated(value / 1000, value < 10000 ? 2 : 2)}s`;
  const seconds = Math.trunc(value / 1000) % 60;
  const minutes = Math.trunc(value / 60000);
  const rest = minutes % 60;
  return minutes < 60 ? `${minutes}m${seconds}s` : `${Math.trunc(minutes / 60)}h${rest}m${seconds}s`;
}

/** A value of a metric: by its type `rate`, and by what it contains: `data`, `time` or anything else. */
export function humanizeValue(value, metric, unit) {
  if (metric.type === 'rate') return `${(Math.trunc(value * 100 * 100) / 100).toFixed(2)}%`;
  if (metric.contains === 'data') return bytes(value);
  if (metric.contains === 'time') return time(value, unit);
  return toFixedNoTrailingZeros(value, 6);
}
