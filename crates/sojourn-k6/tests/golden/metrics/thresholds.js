// Thresholds that hold and fail, of each kind, on metrics and submetrics.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

export const options = {
  thresholds: {
    a_counter: ['count==6', 'count>100', 'rate>0'],
    'a_counter{color:red}': ['count==2'],
    'a_counter{color:blue}': ['count<1', { threshold: 'count < 4', abortOnFail: true, delayAbortEval: '10s' }],
    a_gauge: ['value===3', 'value != 3', 'value<=3', 'value>=4'],
    a_rate: ['rate>0.5', 'rate<=0.5'],
    'a_rate{color:red, size:5}': ['rate==1'],
    a_trend: ['avg<3', 'min>=1', 'max<5', 'med==2.5', 'p(95)<3', 'p(99.9)>3', 'p(50) < 2'],
    'a_trend{color:none}': ['avg<1'],
    iterations: ['count==1'],
  },
};

const counter = new Counter('a_counter');
const gauge = new Gauge('a_gauge');
const rate = new Rate('a_rate');
const trend = new Trend('a_trend', true);

export default function () {
  counter.add(1);
  counter.add(2, { color: 'red' });
  counter.add(3, { color: 'blue', size: '5' });
  gauge.add(7, { color: 'red' });
  gauge.add(3);
  rate.add(1, { color: 'red', size: 5 });
  rate.add(0, { color: 'red' });
  for (const n of [1, 2, 3, 4]) trend.add(n, { color: 'red' });
}
