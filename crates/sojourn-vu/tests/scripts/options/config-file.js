// Row: 8.3 -c: a configuration file is the lowest tier
// Args: -c config.json
import exec from 'k6/execution';
import { plan } from '../lib/plan.js';

export const options = { userAgent: 'from the script' };

export function setup() {
  plan();
  console.log(exec.test.options.userAgent, exec.test.options.maxRedirects);
}

export default function () {}
