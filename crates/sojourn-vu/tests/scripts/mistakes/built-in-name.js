// Row: mistakes: a built-in metric's name for another type
import { Trend } from 'k6/metrics';

const trend = new Trend('http_reqs');

export default function () {
  trend.add(1);
}
