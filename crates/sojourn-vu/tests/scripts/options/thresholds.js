// Row: 8.3 thresholds: every aggregate and operator
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { json } from '../lib/same.js';

const counter = new Counter('cc');
const gauge = new Gauge('gg');
const rate = new Rate('rr');
const trend = new Trend('tt');

export const options = {
  thresholds: {
    cc: [
      'count==3',
      'count===3',
      'count!=4',
      'count>2',
      'count>=3',
      'count<4',
      'count<=3',
      'rate>0',
    ],
    gg: ['value==2', ' value  <  3 '],
    rr: ['rate==0.75', 'rate>.7'],
    tt: ['avg==5.5', 'min==1', 'max==10', 'med==5.5', 'p(90)==9.1', 'p(50.0)<=5.5'],
    'tt{only:this}': ['max==3'],
    'tt{only:this, and:that}': ['max<=0'],
    'rr{never:seen}': ['rate>0.9'],
    checks: ['rate>0.5'],
  },
};

export default function () {
  counter.add(1);
  counter.add(2);
  gauge.add(9);
  gauge.add(2);
  for (const good of [1, 1, 0, true]) rate.add(good);
  for (let i = 1; i <= 10; i++) trend.add(i, i === 3 ? { only: 'this' } : {});
}

export function handleSummary(data) {
  const lines = Object.keys(data.metrics)
    .filter((name) => data.metrics[name].thresholds)
    .map((name) => `${name}: ${json(data.metrics[name].thresholds)}`);
  return { stdout: lines.sort().join('\n') + '\n' };
}
