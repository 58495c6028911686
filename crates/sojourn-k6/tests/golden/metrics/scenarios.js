// Two scenarios with groups, checks and metrics of their own, as the full summary shows them.
import { check, group } from 'k6';
import { Counter, Trend, Gauge, Rate } from 'k6/metrics';

export const options = {
  scenarios: {
    shop: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'shop', maxDuration: '10s' },
    pay: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'pay', startTime: '1s', maxDuration: '10s', tags: { who: 'us' } },
  },
  thresholds: { spent: ['avg<100'], 'spent{scenario:pay}': ['avg<1'], 'checks{scenario:shop}': ['rate==1'] },
};

const spent = new Trend('spent', true);
const items = new Counter('items');
const level = new Gauge('level');
const happy = new Rate('happy');

export function shop() {
  items.add(3);
  check(1, { 'shop is open': true });
  group('basket', () => {
    items.add(2);
    spent.add(5 + __ITER);
    check(1, { 'has room': __ITER === 0 });
    group('coupon', () => {
      happy.add(1);
      check(1, { 'coupon is valid': false });
    });
  });
  group('list', () => level.add(4));
}

export function pay() {
  spent.add(17.5);
  level.add(9);
  group('basket', () => {
    happy.add(0);
    check(1, { 'has room': true });
  });
}
