// Row: mistakes: one metric's name for two types
import { Counter, Trend } from 'k6/metrics';

const counter = new Counter('twice');
const trend = new Trend('twice');

export default function () {
  counter.add(1);
  trend.add(1);
}
