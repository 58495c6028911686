// Row: 8.2 a second signal ends the test at once: exit code 105
// Signal: INT 1.5 INT 0.7
import { sleep } from 'k6';

export const options = { vus: 1, duration: '30s' };

export default function () {
  sleep(10);
}

export function teardown() {
  console.log('teardown');
  sleep(5);
  console.log('never');
}
