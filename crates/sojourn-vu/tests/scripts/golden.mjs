// Makes a golden file of two runs of a script: what k6 did, without whatever differed between them.
//   node golden.mjs FOLDER SCRIPT RUN RUN
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [, , here, script, ...runs] = process.argv;
const source = readFileSync(join(here, script), 'utf8');
const directive = (name) => (source.match(new RegExp(`^// ${name}: (.*)$`, 'm')) || [])[1];

/** Addresses and folders that are other ones each time become names. */
function plain(text, folder) {
  const { BASE, ROUTES, TLS, WS, GRPC, SECURE, GRPCS } = process.env;
  const bare = (url) => url.replace(/^\w+:\/\//, '');
  return text
    .replaceAll(folder, '@OUT@')
    .replaceAll(here, '@SCRIPTS@')
    .replaceAll(bare(BASE), '@BASE@')
    .replaceAll(bare(ROUTES), '@ROUTES@')
    .replaceAll(bare(TLS), '@TLS@')
    .replaceAll(bare(WS), '@WS@')
    .replaceAll(GRPC, '@GRPC@')
    .replaceAll(bare(SECURE), '@SECURE@')
    .replaceAll(GRPCS, '@GRPCS@')
    .replaceAll(bare(BASE).split(':')[1], '@PORT@')
    .replaceAll(bare(ROUTES).split(':')[1], '@PORT@')
    .replace(/127\.0\.0\.1:\d{5}->/g, '@CLIENT@->');
}

const read = (folder, name) => {
  const path = join(folder, name);
  return existsSync(path) ? plain(readFileSync(path, 'utf8'), folder) : '';
};

/** Lines of the log: level, text, and whether the script wrote it. */
function log(folder) {
  let lines = read(folder, 'stderr')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      try {
        const { level, msg, source: from, error, hint } = JSON.parse(line);
        return {
          level,
          msg,
          ...(from && { source: from }),
          ...(error && { error }),
          ...(hint && { hint }),
        };
      } catch {
        return { text: line.replace(/time="[^"]*"/, 'time=""') };
      }
    });
  const how = directive('Log');
  if (how === 'console') lines = lines.filter((it) => it.source === 'console');
  if (how === 'sorted') lines.sort((a, b) => (a.msg < b.msg ? -1 : 1));
  return lines;
}

/** Of each metric: type, what it counts, how many samples, and which tags they had. */
function metrics(folder) {
  const all = {};
  for (const line of read(folder, 'samples').split('\n').filter(Boolean)) {
    const it = JSON.parse(line);
    if (it.type === 'Metric') {
      const { type, contains, submetrics } = it.data;
      all[it.metric] = { type, contains, samples: 0, tags: {} };
      if (submetrics) all[it.metric].submetrics = submetrics.map((sub) => sub.suffix).sort();
      continue;
    }
    const metric = all[it.metric];
    metric.samples += 1;
    for (const [key, value] of Object.entries({ ...it.data.tags, ...it.data.metadata })) {
      metric.tags[key] = metric.tags[key] || new Set();
      metric.tags[key].add(value);
    }
    if (/^(vus|vus_max)$/.test(it.metric)) metric.samples = null;
  }
  for (const metric of Object.values(all)) {
    metric.tags = Object.fromEntries(
      Object.entries(metric.tags)
        .sort()
        .map(([key, values]) => [key, [...values].sort()]),
    );
  }
  return Object.fromEntries(Object.entries(all).sort());
}

/** Checks by path, and thresholds that held. */
function summary(folder) {
  const text = read(folder, 'summary');
  if (text === '') return {};
  const { root_group: root, metrics: found } = JSON.parse(text);
  const checks = [];
  const walk = (group) => {
    for (const it of Object.values(group.checks)) checks.push([it.path, it.passes, it.fails]);
    Object.values(group.groups).forEach(walk);
  };
  walk(root);
  const thresholds = {};
  for (const [name, { thresholds: its }] of Object.entries(found)) {
    // The exported booleans say whether it failed.
    for (const [text, failed] of Object.entries(its || {})) {
      thresholds[name] = { ...thresholds[name], [text]: !failed };
    }
  }
  return { checks: checks.sort(), thresholds };
}

/** JSON is compared member by member. */
function understood(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' ? value : text;
  } catch {
    return text;
  }
}

function seen(folder) {
  const code = Number(read(folder, 'code'));
  const kept = {};
  for (const name of (directive('Keep') || '').split(' ').filter(Boolean))
    kept[name] = understood(read(folder, name));
  return {
    exit_code: code,
    log: log(folder),
    ...((directive('Command') || source.includes('handleSummary')) && {
      stdout: understood(read(folder, 'stdout')),
    }),
    ...(directive('Keep') && { kept }),
    ...(directive('Command') === undefined && { ...summary(folder), metrics: metrics(folder) }),
  };
}

/** What both have alike; null where they differ. */
function steady(a, b) {
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object')
    return a === b ? a : null;
  if (Array.isArray(a)) {
    return a.length === b.length ? a.map((it, at) => steady(it, b[at])) : null;
  }
  // The order of keys says nothing.
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return Object.fromEntries(
    names.map((name) => [name, name in a && name in b ? steady(a[name], b[name]) : null]),
  );
}

const MEMBERS = [
  'script',
  'row',
  'exit_code',
  'log',
  'stdout',
  'kept',
  'checks',
  'thresholds',
  'metrics',
];

/** JSON with a line for each element of a part: differences are seen well. */
function written(it) {
  const part = (value) => {
    if (value === null || typeof value !== 'object') return JSON.stringify(value);
    const isList = Array.isArray(value);
    const lines = Object.entries(value).map(
      ([key, inner]) => `  ${isList ? '' : `${JSON.stringify(key)}: `}${JSON.stringify(inner)}`,
    );
    const [open, close] = isList ? '[]' : '{}';
    return lines.length === 0 ? open + close : `${open}\n${lines.join(',\n')}\n ${close}`;
  };
  const parts = Object.entries(it).map(([key, value]) => ` ${JSON.stringify(key)}: ${part(value)}`);
  return `{\n${parts.join(',\n')}\n}\n`;
}

const path = join(here, 'golden', script.replace(/\.[jt]s$/, '.json'));
let golden = { script, row: directive('Row') ?? '', ...steady(...runs.map(seen)) };
if (process.env.MERGE && existsSync(path)) {
  const { row, ...earlier } = golden;
  golden = { ...steady(JSON.parse(readFileSync(path, 'utf8')), earlier), script, row };
}
golden = Object.fromEntries(MEMBERS.filter((it) => it in golden).map((it) => [it, golden[it]]));
mkdirSync(dirname(path), { recursive: true });
writeFileSync(path, written(golden));
const failed = (golden.checks || []).filter(([, , fails]) => fails > 0).map(([name]) => name);
console.log(
  `${script}: exit ${golden.exit_code}${failed.length ? `, failed: ${failed.join('; ')}` : ''}`,
);
