// Row: 8.7 exec.test.abort: exit code 108, teardown is run
import exec from 'k6/execution';
import { sleep } from 'k6';

export const options = { vus: 2, duration: '20s' };

export default function () {
  if (__VU === 1 && __ITER === 1) exec.test.abort('enough of this');
  sleep(0.3);
}

export function teardown() {
  console.log('teardown');
}
