import { check, group, sleep } from 'k6';
import http from 'k6/http';
import { Trend } from 'k6/metrics';

// `sojourn mock` answers here; -e BASE=… names another target.
const base = __ENV.BASE || 'http://127.0.0.1:8080';

const checkout = new Trend('checkout_duration', true);

export const options = {
  scenarios: {
    // People who look around: each begins again when it is done.
    visitors: {
      executor: 'ramping-vus',
      exec: 'visit',
      startVUs: 1,
      stages: [
        { duration: '10s', target: 5 },
        { duration: '20s', target: 5 },
        { duration: '5s', target: 0 },
      ],
    },
    // Orders come at their own rate, however slow the answers are.
    orders: {
      executor: 'constant-arrival-rate',
      exec: 'order',
      rate: 5,
      timeUnit: '1s',
      duration: '30s',
      preAllocatedVUs: 10,
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    'http_req_duration{scenario:orders}': ['p(95)<500'],
    checkout_duration: ['p(95)<800'],
  },
};

// Once, before all users; what it returns is given to each of them.
export function setup() {
  const response = http.get(`${base}/`);
  if (response.status === 0) throw new Error(`${base} can't be reached: ${response.error}`);
  return { began: Date.now() };
}

export function visit() {
  group('look around', () => {
    const response = http.get(`${base}/products`, { tags: { name: 'products' } });
    check(response, { 'there are products': (it) => it.status === 200 });
  });
  sleep(Math.random() * 2);
}

export function order() {
  const body = JSON.stringify({ product: 'cup', count: 1 });
  const response = http.post(`${base}/orders`, body, {
    headers: { 'Content-Type': 'application/json' },
  });
  check(response, { 'the order is taken': (it) => it.status < 300 });
  checkout.add(response.timings.duration);
}

export function teardown(data) {
  console.log(`it took ${Math.round((Date.now() - data.began) / 1000)} s`);
}
