// Row: 8.3 K6_ variables win over the script, flags over them
// Args: -i 3
// Env: K6_VUS=2 K6_ITERATIONS=9 K6_TAGS=a:b,c:d K6_SUMMARY_TREND_STATS=min,count
import { plan } from '../lib/plan.js';

export const options = { vus: 5, iterations: 7, tags: { script: 'gone' } };

export function setup() {
  plan();
}

export default function () {}
