// Row: 8.10 built-in metrics: names, types and tags
import http from 'k6/http';
import { check, group, sleep } from 'k6';

export const options = { vus: 2, iterations: 4 };

export function setup() {
  http.get(`${__ENV.BASE}/setup`);
}

export default function () {
  group('shop', () => {
    const response = http.get(`${__ENV.BASE}/x`);
    check(response, { fine: (it) => it.status === 200 }, { own: 'tag' });
  });
  sleep(0.6);
}

export function teardown() {
  http.get(`${__ENV.BASE}/teardown`);
}
