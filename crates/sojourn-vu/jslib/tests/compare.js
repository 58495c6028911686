// What the tests share: comparisons that are checks, and options that make a difference visible in
// the exit code.
import { check } from 'k6';
import { Counter } from 'k6/metrics';

const finished = new Counter('finished');

/** A test that is wrong, or does not come to its end, fails with exit code 99. */
export const options = {
  iterations: 1,
  thresholds: { checks: ['rate==1'], finished: ['count==1'] },
};

export function same(name, actual, expected) {
  const got = JSON.stringify(actual);
  const want = JSON.stringify(expected);
  const equal = got === want;
  check(equal, { [name]: (it) => it });
  if (!equal) console.error(`${name}: got ${got}, expected ${want}`);
}

export function holds(name, value) {
  same(name, Boolean(value), true);
}

export function throws(name, run, part = '') {
  let text = null;
  try {
    run();
  } catch (error) {
    text = String(error);
  }
  if (text === null || !text.includes(part)) same(name, text, part);
  else same(name, true, true);
}

export function done() {
  finished.add(1);
}
