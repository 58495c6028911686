// Row: 8.3 stages: ramping-vus
import { sleep } from 'k6';
import { plan } from '../lib/plan.js';

export const options = {
  stages: [
    { duration: '500ms', target: 2 },
    { duration: '0', target: 1 },
    { duration: 300, target: 1 },
  ],
};

export function setup() {
  plan();
}

export default function () {
  sleep(0.1);
}
