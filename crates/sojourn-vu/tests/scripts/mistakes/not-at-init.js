// Row: mistakes: what may not be called at init
import http from 'k6/http';
import { check, fail, group, sleep } from 'k6';
import { Counter } from 'k6/metrics';

const counter = new Counter('cc');
const told = [];
for (const [name, run] of [
  ['http.get', () => http.get('http://127.0.0.1:1/')],
  ['http.batch', () => http.batch(['http://127.0.0.1:1/'])],
  ['http.asyncRequest', () => http.asyncRequest('GET', 'http://127.0.0.1:1/')],
  ['http.cookieJar', () => http.cookieJar()],
  ['http.file', () => http.file('a')],
  ['http.expectedStatuses', () => http.expectedStatuses(200)],
  ['http.setResponseCallback', () => http.setResponseCallback(http.expectedStatuses({ min: 200, max: 399 }))],
  ['check', () => check(1, { a: true })],
  ['group', () => group('g', () => {})],
  ['counter.add', () => counter.add(1)],
  ['sleep', () => sleep(0.01)],
  ['fail', () => fail('f')],
]) {
  try {
    const value = run();
    told.push(`${name}: ${typeof value}`);
  } catch (error) {
    told.push(`${name}: ${error}`);
  }
}

export default function () {
  told.forEach((it) => console.log(it));
}
