// Row: 8.3 vus and iterations: shared-iterations
import { plan } from '../lib/plan.js';

export const options = { vus: 2, iterations: 5 };

export function setup() {
  plan();
}

export default function () {}
