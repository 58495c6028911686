// Row: 8.4 fail ends the iteration, not the test
import { fail } from 'k6';

export const options = { iterations: 2 };

export default function () {
  if (__ITER === 0) fail('given up');
  console.log('the second iteration');
}
