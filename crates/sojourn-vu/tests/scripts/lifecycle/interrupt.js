// Row: 8.2 a first signal ends the test gracefully: exit code 105
// Signal: INT 1.5
import { sleep } from 'k6';

export const options = { vus: 1, duration: '30s' };

export function setup() {
  console.log('setup');
}

export default function () {
  sleep(10);
}

export function teardown() {
  console.log('teardown');
}

export function handleSummary(data) {
  console.log(`summary of ${Object.keys(data.metrics).includes('vus')}`);
  return {};
}
