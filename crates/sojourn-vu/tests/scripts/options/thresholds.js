// Row: 8.3 thresholds: every aggregate and operator
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const counter = new Counter('c');
const gauge = new Gauge('g');
const rate = new Rate('r');
const trend = new Trend('t');

export const options = {
  thresholds: {
    c: ['count==3', 'count===3', 'count!=4', 'count>2', 'count>=3', 'count<4', 'count<=3', 'rate>0'],
    g: ['value==2', ' value  <  3 '],
    r: ['rate==0.75', 'rate>.7'],
    t: ['avg==5.5', 'min==1', 'max==10', 'med==5.5', 'p(90)==9.1', 'p(50.0)<=5.5'],
    't{only:this}': ['max==3'],
    't{only:this, and:that}': ['max<=0'],
    'r{never:seen}': ['rate>0.9'],
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
  const lines = Object.keys(data.metrics).filter((name) => data.metrics[name].thresholds)
    .map((name) => `${name}: ${JSON.stringify(data.metrics[name].thresholds)}`);
  return { stdout: lines.sort().join('\n') + '\n' };
}
