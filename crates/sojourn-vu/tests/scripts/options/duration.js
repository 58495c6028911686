// Row: 8.3 vus and duration: constant-vus
import { sleep } from 'k6';
import { plan } from '../lib/plan.js';

export const options = { vus: 3, duration: '1s', thresholds: { iterations: ['count>=9'] } };

export function setup() {
  plan();
}

export default function () {
  sleep(0.25);
}
