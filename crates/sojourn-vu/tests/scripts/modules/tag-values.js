// Row: 8.6 what tags may be, everywhere: texts, numbers, booleans
import http from 'k6/http';
import exec from 'k6/execution';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';

const mine = new Counter('mine');
const values = { a: undefined, b: null, c: 1, d: {}, e: true, f: [1], g: () => 1, h: 1.5, i: 'x' };

function attempt(what, call) {
  try {
    console.log(what, call());
  } catch (error) {
    console.log(what, error.message);
  }
}

export default function () {
  for (const [key, value] of Object.entries(values)) {
    const tags = { [key]: value };
    attempt(`http ${key}`, () => http.get(`${__ENV.BASE}/`, { tags }).error);
    attempt(`check ${key}`, () => check(1, { fine: true }, tags));
    attempt(`add ${key}`, () => mine.add(1, tags));
    attempt(`tags ${key}`, () => {
      exec.vu.metrics.tags[key] = value;
      return exec.vu.metrics.tags[key];
    });
    group('inside', () => mine.add(1));
    delete exec.vu.metrics.tags[key];
    attempt(`metadata ${key}`, () => {
      exec.vu.metrics.metadata[key] = value;
      return exec.vu.metrics.metadata[key];
    });
  }
  for (const tags of [undefined, null, 1, 'x', [2], () => 1, true]) {
    attempt(`http of ${tags}`, () => http.get(`${__ENV.BASE}/`, { tags }).status);
    attempt(`check of ${tags}`, () => check(1, { fine: true }, tags));
    attempt(`add of ${tags}`, () => mine.add(1, tags));
  }
}
