// Row: 8.6 Counter, Gauge, Rate, Trend
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { same, throws } from '../lib/same.js';

const counter = new Counter('a_counter');
const gauge = new Gauge('a_gauge');
const rate = new Rate('a_rate');
const trend = new Trend('a_trend');
const timed = new Trend('a_timed_trend', true);
const again = new Counter('a_counter');
const untouched = new Counter('untouched');

export const options = {
  thresholds: {
    checks: ['rate==1'],
    a_counter: ['count==11.5'],
    a_gauge: ['value==3'],
    a_rate: ['rate==0.5'],
    a_trend: ['avg==2', 'med==2'],
    'a_counter{kind:x}': ['count==4'],
  },
};

export default function () {
  counter.add(1.5);
  counter.add(4, { kind: 'x', number: 5, yes: true });
  counter.add(true);
  counter.add('5');
  again.add(0);
  gauge.add(7);
  gauge.add(1);
  gauge.add(3);
  rate.add(true);
  rate.add(0);
  rate.add(5);
  rate.add(false);
  for (const value of [1, 2, 3]) trend.add(value);
  timed.add(250);
  same('names', [counter.name, timed.name], ['a_counter', 'a_timed_trend']);
  same('no result', [counter.add(0)], [true]);
  throws('only at init', () => new Counter('late'), 'init');
}
