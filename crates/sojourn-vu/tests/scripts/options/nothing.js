// Row: 8.3 no option at all: one user, one iteration
import { plan } from '../lib/plan.js';

export default function () {
  plan();
}
