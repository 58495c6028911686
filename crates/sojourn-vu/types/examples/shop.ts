// A script as many are: requests, checks, thresholds, own metrics.
import { check, group, sleep } from 'k6';
import http, { type Response } from 'k6/http';
import { Counter, Trend } from 'k6/metrics';
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import type { Options } from 'k6/options';
import type { SummaryData, SummaryResult } from 'k6/summary';
import { randomIntBetween, randomItem } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
import { textSummary } from 'https://jslib.k6.io/k6-summary/0.1.0/index.js';
import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js';

interface User {
  name: string;
  id: number;
}

const users = new SharedArray<User>(
  'users',
  () => papaparse.parse<User>(open('users.csv'), { header: true }).data,
);
const orders = new Counter('orders');
const paid = new Trend('paid', true);

export const options: Options = {
  scenarios: {
    open: {
      executor: 'constant-arrival-rate',
      rate: 50,
      timeUnit: '1s',
      duration: '30s',
      preAllocatedVUs: 20,
      maxVUs: 50,
    },
    closed: {
      executor: 'ramping-vus',
      stages: [{ duration: '10s', target: 5 }],
      exec: 'closed',
      startTime: '30s',
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    'paid{kind:card}': [{ threshold: 'p(95)<500', abortOnFail: true }],
  },
};

export function setup(): { token: string } {
  const response = http.post(`${__ENV.BASE}/login`, JSON.stringify({ user: 'ada' }), {
    headers: { 'X-A': 'b' },
  });
  return { token: response.json<string>('token') };
}

export default function (data: { token: string }): void {
  const user = randomItem(users);
  const params = { headers: { Authorization: `Bearer ${data.token}` }, tags: { user: user.name } };
  group('order', () => {
    const response = http.post(
      http.url`${__ENV.BASE}/orders/${user.id}`,
      { amount: randomIntBetween(1, 9) },
      params,
    );
    const good = check(response, {
      created: (it: Response) => it.status === 201,
      'has an id': (it) => it.json('id') !== undefined,
    });
    if (good) orders.add(1);
    paid.add(response.timings.duration, { kind: 'card' });
  });
  const [first, second] = http.batch([
    `${__ENV.BASE}/a`,
    ['GET', `${__ENV.BASE}/b`, null, { timeout: '2s' }],
  ]);
  if (first.status !== second.status) exec.test.abort(`stopped by user ${exec.vu.idInTest}`);
  sleep(Math.random());
}

export async function closed(): Promise<void> {
  const response = await http.asyncRequest('GET', `${__ENV.BASE}/c`);
  const digest = await crypto.subtle.digest(
    'SHA-256',
    new TextEncoder().encode(String(response.body)),
  );
  console.log(new Uint8Array(digest).length);
}

export function handleSummary(data: SummaryData): SummaryResult {
  return {
    stdout: textSummary(data, { indent: ' ', enableColors: true }),
    'summary.json': JSON.stringify(data.metrics),
  };
}
