// Row: 8.3 --stage
// Args: -s 400ms:2 -s 1s200ms:0
import { sleep } from 'k6';
import { plan } from '../lib/plan.js';

export function setup() {
  plan();
}

export default function () {
  sleep(0.2);
}
