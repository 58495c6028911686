// Row: 8.7 exec.test.abort in setup
import exec from 'k6/execution';

export function setup() {
  exec.test.abort();
}

export default function () {
  console.log('not called');
}

export function teardown() {
  console.log('teardown');
}
