// Row: 8.3 teardownTimeout: exit code 101
import { sleep } from 'k6';

export const options = { teardownTimeout: 300 };

export default function () {
  console.log('default');
}

export function teardown() {
  sleep(5);
}
