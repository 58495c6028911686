// Row: 8.2 SIGTERM is like the first Ctrl-C
// Signal: TERM 1.5
import { sleep } from 'k6';

export const options = { vus: 1, iterations: 1 };

export default function () {
  sleep(10);
}

export function teardown() {
  console.log('teardown');
}
