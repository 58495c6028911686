// Row: 8.3 -u and -d
// Args: -u 2 -d 1s
import { sleep } from 'k6';
import { plan } from '../lib/plan.js';

export const options = { iterations: 50 };

export function setup() {
  plan();
}

export default function () {
  sleep(0.3);
}
