// Row: 8.3 --summary-export: the old shape, booleans the wrong way round
// Args: --summary-export=@OUT@/exported.json
// Keep: exported.json
import { check } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend');

export const options = { thresholds: { my_counter: ['count>5', 'count<5'] } };

export default function () {
  counter.add(2);
  gauge.add(3);
  rate.add(true);
  trend.add(4);
  check(1, { good: true, bad: false });
}
