import { check, sleep } from 'k6';
import http from 'k6/http';

// `sojourn mock` answers here; -e BASE=… names another target.
const base = __ENV.BASE || 'http://127.0.0.1:8080';

export const options = {
  vus: 5,
  duration: '10s',
};

export default function () {
  const response = http.get(`${base}/`);
  check(response, { 'status is 200': (it) => it.status === 200 });
  sleep(1);
}
