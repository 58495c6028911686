// The summary as text: checks by group, then every metric with its values in columns.
import { humanizeValue } from './values.js';

const MARKS = { good: '✓', bad: '✗', group: '█', details: '↳' };
const COLOURS = { bold: 1, faint: 2, red: 31, green: 32, cyan: 36 };

/** `options`: `{ indent, enableColors }`. */
export function textSummary(data, options = {}) {
  const settings = {
    indent: options.indent === undefined ? ' ' : options.indent,
    paint: painter(options.enableColors === undefined ? true : options.enableColors),
    stats: options.summaryTrendStats || data.options.summaryTrendStats,
    unit: options.summaryTimeUnit || data.options.summaryTimeUnit,
  };
  const lines = [
    ...ofGroup(data.root_group, `${settings.indent}    `, settings),
    ...ofMetrics(data.metrics, settings),
  ];
  return lines.join('\n');
}

function painter(isOn) {
  return (text, ...names) =>
    isOn ? `\u001b[${names.map((it) => COLOURS[it]).join(';')}m${text}\u001b[0m` : text;
}

/** Columns a text takes, without colours. */
// eslint-disable-next-line no-control-regex
const width = (text) => Array.from(text.normalize('NFC').replace(/\u001b\[[0-9;]*m/g, '')).length;

const padded = (text, columns) => text + ' '.repeat(Math.max(columns - width(text), 0));

function ofGroup(group, indent, settings) {
  const lines = [];
  let inner = indent;
  if (group.name !== '') {
    lines.push(`${indent}${MARKS.group} ${group.name}\n`);
    inner = `${indent}  `;
  }
  for (const it of group.checks) lines.push(ofCheck(it, inner, settings));
  if (group.checks.length > 0) lines.push('');
  for (const it of group.groups) lines.push(...ofGroup(it, inner, settings));
  return lines;
}

function ofCheck(check, indent, { paint }) {
  if (check.fails === 0) return paint(`${indent}${MARKS.good} ${check.name}`, 'green');
  const share = Math.floor((100 * check.passes) / (check.passes + check.fails));
  return paint(
    `${indent}${MARKS.bad} ${check.name}\n${indent} ${MARKS.details}  ${share}% — ${MARKS.good} ` +
      `${check.passes} / ${MARKS.bad} ${check.fails}`,
    'red',
  );
}

/**
 * Names with dots, then values in columns: of trends as wide as their widest, of others likewise.
 */
function ofMetrics(metrics, settings) {
  const names = Object.keys(metrics).sort(byName);
  const rows = names.map((name) => ({ name, metric: metrics[name], shown: shownName(name) }));
  const nameWidth = Math.max(0, ...rows.map(({ shown }) => width(shown)));
  const trends = rows.map(({ metric }) =>
    metric.type === 'trend' ? ofTrend(metric, settings) : null,
  );
  const trendWidths = settings.stats.map((_, at) =>
    Math.max(0, ...trends.map((it) => (it ? width(it[at]) : 0))),
  );
  const others = rows.map(({ metric }) =>
    metric.type === 'trend' ? null : ofOther(metric, settings),
  );
  const otherWidths = [0, 1, 2].map((at) =>
    Math.max(0, ...others.map((it) => (it && it[at] ? width(it[at]) : 0))),
  );
  return rows.map(({ metric, shown }, at) => {
    const { paint } = settings;
    const dots = paint(`${'.'.repeat(nameWidth - width(shown) + 3)}:`, 'faint');
    const begin = `${mark(shown, metric, settings)}${shown.trim()}${dots}`;
    const values =
      trends[at] === null
        ? ofColumns(others[at], otherWidths, paint)
        : settings.stats
            .map((stat, k) => {
              const text = trends[at][k];
              const value = paint(text, 'cyan');
              return `${stat}=${value}${' '.repeat(trendWidths[k] - width(text))}`;
            })
            .join(' ');
    return `${begin} ${values}`;
  });
}

/** By name; a tagged metric follows its own. */
function byName(a, b) {
  const [parentA, parentB] = [a.split('{')[0], b.split('{')[0]];
  if (parentA !== parentB) return parentA < parentB ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `  { tag:value }` for a tagged metric. */
function shownName(name) {
  const at = name.indexOf('{');
  return at < 0 ? name : `  { ${name.slice(at + 1, -1)} }`;
}

function mark(shown, metric, { indent, paint }) {
  const begin = `${indent}  ${shown.startsWith('  ') ? '  ' : ''}`;
  const thresholds = Object.values(metric.thresholds || {});
  if (thresholds.length === 0) return `${begin}  `;
  const good = thresholds.every(({ ok }) => ok);
  return begin + (good ? paint(MARKS.good, 'green') : paint(MARKS.bad, 'red')) + ' ';
}

function ofTrend(metric, { stats, unit }) {
  return stats.map((stat) =>
    stat === 'count'
      ? String(metric.values.count)
      : humanizeValue(metric.values[stat], metric, unit),
  );
}

/** A first value, and up to two more. */
function ofOther(metric, { unit }) {
  const { values } = metric;
  const show = (it) => humanizeValue(it, metric, unit);
  if (metric.type === 'counter') return [show(values.count), `${show(values.rate)}/s`];
  if (metric.type === 'gauge')
    return [show(values.value), `min=${show(values.min)}`, `max=${show(values.max)}`];
  return [show(values.rate), `${values.passes} out of ${values.passes + values.fails}`];
}

function ofColumns([first, second, third], widths, paint) {
  const begin = paint(first, 'cyan') + ' '.repeat(widths[0] - width(first));
  if (third === undefined) return `${begin} ${paint(second, 'cyan', 'faint')}`;
  const more = [second, third].map(
    (it, at) => paint(it, 'cyan', 'faint') + ' '.repeat(widths[at + 1] - width(it)),
  );
  return `${begin} ${more.join(' ')}`;
}
