// Row: 8.3 K6_DURATION and K6_STAGES
// Env: K6_STAGES=300ms:1,200ms:2
import { sleep } from 'k6';
import { plan } from '../lib/plan.js';

export const options = { vus: 1, iterations: 7 };

export function setup() {
  plan();
}

export default function () {
  sleep(0.1);
}
