// Row: 8.3 iterations with a duration, which becomes maxDuration
import { plan } from '../lib/plan.js';

export const options = { vus: 2, iterations: 4, duration: '7s' };

export function setup() {
  plan();
}

export default function () {}
