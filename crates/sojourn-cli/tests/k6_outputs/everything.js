// Every kind of metric, with tags that outputs have to take care of.
import { check } from 'k6';
import http from 'k6/http';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const counted = new Counter('counted');
const level = new Gauge('level');
const share = new Rate('share');
const took = new Trend('took', true);
const size = new Trend('size');

export const options = {
  // So many that answers are read together.
  vus: 20,
  iterations: 40,
  systemTags: ['status', 'method', 'url', 'name', 'scenario', 'check', 'expected_response', 'vu', 'iter'],
  tags: { testid: 'a "test", x=1' },
};

export default function () {
  const answer = http.get(`${__ENV.TARGET}/item?id=${__ITER % 2}`);
  check(answer, { 'status is 200': (it) => it.status === 200, 'never holds': () => false });
  counted.add(3, { kind: 'a b' });
  counted.add(1, { kind: 'c' });
  level.add(__ITER);
  share.add(__ITER % 4 === 0);
  took.add(100 + __ITER);
  size.add(__ITER * 10);
}
