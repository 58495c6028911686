// Row: 8.3 localIPs: each user has an address of its own
// Args: --local-ips 127.0.0.9,127.0.0.3-127.0.0.4
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: 5, iterations: 2 } },
  thresholds: { checks: ['rate==1'] },
};

const addresses = ['127.0.0.9', '127.0.0.3', '127.0.0.4'];

export default function () {
  const url = `${__ENV.WS.replace('ws:', 'http:')}/address`;
  same('its own', http.get(url).body, addresses[(__VU - 1) % 3]);
}
