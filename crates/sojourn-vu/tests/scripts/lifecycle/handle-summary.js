// Row: 8.2 handleSummary: paths and contents; the shape of its data
// Keep: kept.txt kept.bin
import { check, group } from 'k6';
import { json } from '../lib/same.js';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend', true);

export const options = {
  iterations: 1,
  summaryTrendStats: ['min', 'med', 'p(99)', 'count'],
  thresholds: { my_counter: ['count>2', 'count<2'], 'my_trend{kind:a}': ['max<10'] },
};

export function setup() {
  return { from: 'setup' };
}

export default function () {
  counter.add(3);
  gauge.add(5);
  gauge.add(2);
  rate.add(true);
  rate.add(false);
  trend.add(7, { kind: 'a' });
  check(1, { outer: (it) => it === 1 });
  group('first', () => {
    check(1, { inner: (it) => it === 2 });
    group('second', () => check(1, { innermost: (it) => it === 1 }));
  });
}

export function handleSummary(data) {
  const steady = JSON.parse(JSON.stringify(data));
  delete steady.state.testRunDurationMs;
  for (const name of [
    'iteration_duration',
    'group_duration',
    'iterations',
    'data_sent',
    'data_received',
    'vus',
    'vus_max',
  ]) {
    if (steady.metrics[name])
      steady.metrics[name].values = Object.keys(steady.metrics[name].values).sort();
  }
  delete steady.metrics.my_counter.values.rate;
  return {
    stdout: json(steady) + '\n',
    [`${__ENV.OUT}/kept.txt`]: `${typeof data.state.testRunDurationMs} ${data.setup_data.from}\n`,
    [`${__ENV.OUT}/kept.bin`]: new Uint8Array([104, 105]).buffer,
  };
}
