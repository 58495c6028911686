// Row: 8.3 setupTimeout: exit code 100
import { sleep } from 'k6';

export const options = { setupTimeout: '300ms' };

export function setup() {
  sleep(5);
}

export default function () {
  console.log('not called');
}

export function teardown() {
  console.log('teardown');
}
