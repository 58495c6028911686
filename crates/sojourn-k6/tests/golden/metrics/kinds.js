// Every kind and content of metric, with ordinary, negative, huge and tiny values.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const counter = new Counter('a_counter');
const counterTime = new Counter('a_counter_time', true);
const gauge = new Gauge('a_gauge');
const gaugeTime = new Gauge('a_gauge_time', true);
const rate = new Rate('a_rate');
const trend = new Trend('a_trend');
const trendTime = new Trend('a_trend_time', true);
const huge = new Trend('huge');
const tiny = new Trend('tiny');
const hugeTime = new Trend('huge_time', true);
const tinyTime = new Trend('tiny_time', true);
const negative = new Trend('negative');
const negativeTime = new Trend('negative_time', true);
const fraction = new Counter('fraction');
const never = new Trend('never');
const zero = new Trend('zero', true);
const minutes = new Trend('minutes', true);

export default function () {
  for (const n of [1, 2.5, -1, 1000000]) counter.add(n);
  for (const n of [1, 250]) counterTime.add(n);
  for (const n of [5, -3, 123456.789]) gauge.add(n);
  for (const n of [5.5, 61234.5]) gaugeTime.add(n);
  for (const n of [true, false, 1, 0, 7]) rate.add(n);
  for (const n of [1, 2, 3, 4.25]) trend.add(n);
  for (const n of [0.0004, 0.5, 12.3456789, 999.9996, 61000]) trendTime.add(n);
  for (const n of [1e6, 1234567.891, 1e21, 5e22, Number.MAX_SAFE_INTEGER]) huge.add(n);
  for (const n of [1e-6, 1e-7, 1.5e-9, 0.1 + 0.2]) tiny.add(n);
  for (const n of [3600000, 86400000 * 3, 1e12]) hugeTime.add(n);
  for (const n of [0.000001, 0.0000015, 0.00123]) tinyTime.add(n);
  for (const n of [-1, -2.5, -1000, 3]) negative.add(n);
  for (const n of [-1, -2.5, -1000, -61000, 0.3]) negativeTime.add(n);
  fraction.add(0.1);
  fraction.add(0.2);
  zero.add(0);
  for (const n of [59999, 60000, 60001, 119999.9, 3599999.5, 3600000]) minutes.add(n);
}
