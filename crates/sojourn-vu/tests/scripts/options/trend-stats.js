// Row: 8.3 summaryTrendStats and summaryTimeUnit in handleSummary's data
import { Trend } from 'k6/metrics';
import { json } from '../lib/same.js';

const trend = new Trend('steps');

export const options = {
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(75)', 'p(99.99)', 'count'],
  summaryTimeUnit: 's',
};

export default function () {
  for (let i = 1; i <= 10; i++) trend.add(i);
}

export function handleSummary(data) {
  return { stdout: json([data.metrics.steps, data.options]) + '\n' };
}
