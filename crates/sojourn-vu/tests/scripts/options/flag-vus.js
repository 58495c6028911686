// Row: 8.3 --vus alone
// Args: -u 3
import { plan } from '../lib/plan.js';

export function setup() {
  plan();
}

export default function () {}
