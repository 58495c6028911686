// Values as people read them: bytes with prefixes, times with units, shares in per cent.

/** At most so many digits behind the point. */
const rounded = (value, digits) => String(Number(value.toFixed(digits)));

/** The same, cut off: what is nearly a second is not yet one. */
const cut = (value, digits) => rounded(Math.trunc(value * 10 ** digits) / 10 ** digits, digits);

const PREFIXES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];

function bytes(value) {
  if (value < 10) return `${value} B`;
  const power = Math.floor(Math.log(value) / Math.log(1000));
  const tenths = Math.floor((value / 1000 ** power) * 10 + 0.5);
  return `${rounded(tenths / 10, tenths < 100 ? 1 : 0)} ${PREFIXES[power]}`;
}

/** Units that may be asked for: how many to a millisecond. */
const ASKED = { s: [0.001, 's'], ms: [1, 'ms'], us: [1000, 'µs'] };

/** Below so many milliseconds: how many of the unit to a millisecond, its name, digits. */
const FITTING = [
  [0.001, 1e6, 'ns', 0],
  [1, 1000, 'µs', 2],
  [1000, 1, 'ms', 2],
  [60000, 0.001, 's', 2],
];

/** A time in milliseconds, in the unit that is asked for or in the one that fits. */
function time(value, unit) {
  if (unit in ASKED) return `${(value * ASKED[unit][0]).toFixed(2)}${ASKED[unit][1]}`;
  if (value === 0) return '0s';
  const fitting = FITTING.find(([below]) => value < below);
  if (fitting !== undefined) {
    const [, factor, name, digits] = fitting;
    return `${cut(value * factor, digits)}${name}`;
  }
  const seconds = Math.trunc(value / 1000);
  const minutes = Math.trunc(seconds / 60);
  const hours = minutes < 60 ? '' : `${Math.trunc(minutes / 60)}h`;
  return `${hours}${minutes % 60}m${seconds % 60}s`;
}

/** A value of a metric: by its type `rate`, and by what it contains: `data`, `time` or else. */
export function humanizeValue(value, metric, unit) {
  if (metric.type === 'rate') return `${(Math.trunc(value * 10000) / 100).toFixed(2)}%`;
  if (metric.contains === 'data') return bytes(value);
  if (metric.contains === 'time') return time(value, unit);
  return rounded(value, 6);
}
