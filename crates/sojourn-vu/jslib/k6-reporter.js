// A page of HTML from the data of `handleSummary`: `{ 'report.html': htmlReport(data) }`. It needs
// no network.
import { humanizeValue } from './summary/values.js';

const escaped = (text) => String(text).replace(/[&<>"']/g, (it) => `&#${it.charCodeAt(0)};`);

/** `options`: `{ title, debug }`; a page as text. */
export function htmlReport(data, options = {}) {
  const settings = typeof options === 'string' ? { title: options } : options;
  const title =
    settings.title || `Load test ${new Date().toISOString().slice(0, 16).replace('T', ' ')}`;
  const state = data.state || {};
  const debug = settings.debug
    ? section('Data', `<pre>${escaped(JSON.stringify(data, null, 2))}</pre>`)
    : '';
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><h1>${escaped(title)}</h1>
${tiles(data, state)}
${section('Thresholds', thresholds(data))}
${section('Checks', checks(data.root_group, []))}
${METRIC_TABLES.map(([type, heading, columns]) => section(heading, metrics(data, type, columns))).join('\n')}
${debug}</body></html>
`;
}

const section = (heading, body) =>
  body === '' ? '' : `<section><h2>${heading}</h2>${body}</section>`;

/** With commas between thousands. */
function number(value) {
  if (value === undefined) return '–';
  const [whole, rest] = String(Math.round(value * 100) / 100).split('.');
  return whole.replace(/(\d)(?=(\d{3})+$)/g, '$1,') + (rest === undefined ? '' : `.${rest}`);
}

/** What is seen first: how much, how well, how long. */
function tiles(data, state) {
  const of = (name, value) => {
    const metric = data.metrics[name];
    return metric === undefined ? undefined : metric.values[value];
  };
  const failed = entries(data)
    .flatMap(([, it]) => Object.values(it.thresholds || {}))
    .filter((it) => !it.ok).length;
  const lost = of('http_req_failed', 'passes');
  const list = [
    ['Requests', number(of('http_reqs', 'count')), false],
    ['Failed requests', number(lost), lost > 0],
    ['Failed thresholds', number(failed), failed > 0],
    ['Failed checks', number(of('checks', 'fails')), of('checks', 'fails') > 0],
    ['Iterations', number(of('iterations', 'count')), false],
    ['Most users', number(of('vus_max', 'max') ?? of('vus_max', 'value')), false],
    [
      'Seconds',
      number(state.testRunDurationMs === undefined ? undefined : state.testRunDurationMs / 1000),
      false,
    ],
  ];
  const tile = ([name, value, isBad]) =>
    `<div class="tile${isBad ? ' bad' : ''}"><b>${value}</b>${name}</div>`;
  return `<div class="tiles">${list.map(tile).join('')}</div>`;
}

/** Metrics by name, tagged ones behind their own. */
function entries(data) {
  return Object.entries(data.metrics).sort(([a], [b]) => (a < b ? -1 : 1));
}

function thresholds(data) {
  const rows = entries(data).flatMap(([name, metric]) =>
    Object.entries(metric.thresholds || {}).map(
      ([text, { ok }]) =>
        `<tr class="${ok ? 'good' : 'bad'}"><td>${ok ? '✓' : '✗'}</td>` +
        `<td>${escaped(name)}</td><td>${escaped(text)}</td></tr>`,
    ),
  );
  return rows.length === 0
    ? ''
    : `<table><tr><th></th><th>Metric</th><th>Threshold</th></tr>${rows.join('')}</table>`;
}

function checks(group, path) {
  if (group === undefined) return '';
  const here = group.name === '' ? path : [...path, group.name];
  const rows = group.checks.map(
    (it) =>
      `<tr class="${it.fails > 0 ? 'bad' : 'good'}"><td>${it.fails > 0 ? '✗' : '✓'}</td>` +
      `<td>${escaped(it.name)}</td><td>${number(it.passes)}</td><td>${number(it.fails)}</td>` +
      `<td>${((100 * it.passes) / Math.max(it.passes + it.fails, 1)).toFixed(2)} %</td></tr>`,
  );
  const heading = here.length > 0 ? `<h3>${here.map(escaped).join(' › ')}</h3>` : '';
  const own =
    rows.length === 0
      ? ''
      : `${heading}<table><tr><th></th><th>Check</th><th>Passed</th><th>Failed</th>` +
        `<th>Share</th></tr>${rows.join('')}</table>`;
  return own + group.groups.map((it) => checks(it, here)).join('');
}

const METRIC_TABLES = [
  ['trend', 'Trends', null],
  ['rate', 'Rates', ['rate', 'passes', 'fails']],
  ['counter', 'Counters', ['count', 'rate']],
  ['gauge', 'Gauges', ['value', 'min', 'max']],
];

function metrics(data, type, columns) {
  const found = entries(data).filter(([, it]) => it.type === type);
  if (found.length === 0) return '';
  const names = columns || [...new Set(found.flatMap(([, it]) => Object.keys(it.values)))];
  const unit = (data.options || {}).summaryTimeUnit;
  const cell = (metric, name) => {
    const value = metric.values[name];
    if (value === undefined) return '–';
    const isPlain = name === 'passes' || name === 'fails' || (type === 'trend' && name === 'count');
    return escaped(isPlain ? number(value) : humanizeValue(value, metric, unit));
  };
  const isBad = (metric) => Object.values(metric.thresholds || {}).some((it) => !it.ok);
  const rows = found.map(
    ([name, it]) =>
      `<tr${isBad(it) ? ' class="bad"' : ''}><td>${escaped(name)}</td>` +
      `${names.map((column) => `<td>${cell(it, column)}</td>`).join('')}</tr>`,
  );
  return `<table><tr><th>Metric</th>${names.map((it) => `<th>${escaped(it)}</th>`).join('')}</tr>${rows.join('')}</table>`;
}

const STYLE = `
body{font:15px/1.45 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1d2733;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem;color:#4a5a6b}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #dde3ea}
th{color:#4a5a6b;font-weight:600}td:nth-child(n+3){font-variant-numeric:tabular-nums}
.tiles{display:flex;flex-wrap:wrap;gap:.8rem}.tile{flex:1 1 8rem;border:1px solid #dde3ea;border-radius:.5rem;padding:.7rem}
.tile b{display:block;font-size:1.4rem}.bad{background:#fdecea}.tile.bad b,tr.bad td:first-child{color:#b3261e}
tr.good td:first-child{color:#1b7f3b}pre{overflow:auto;background:#f4f6f8;padding:1rem}
@media(prefers-color-scheme:dark){body{background:#14191f;color:#dce3ea}th,h3{color:#9fb0c0}
th,td,.tile{border-color:#2c3743}.bad{background:#3a1f1d}pre{background:#1c232b}}`;

export default htmlReport;
