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
  const lines = [...ofGroup(data.root_group, `${settings.indent}    `, settings), ...ofMetrics(data.metrics, settings)];
  return lines.join('\n');
}

function painter(isOn) {
  return (text, ...names) => (isOn ? `\u001b[${names.map((it) => COLOURS[it]).join(';')}m${text}\u001b[0m` : text);
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
  return paint(`${indent}${MARKS.bad} ${check.name}\n${indent} ${MARKS.details}  ${share}% — ${MARKS.good} `
    + `${check.passes} / ${MARKS.bad} ${check.fails}`, 'red');
}
