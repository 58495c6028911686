// Row: 8.7 exec.test.fail: exit code 110 at the end, nothing is cut short
import exec from 'k6/execution';

export const options = { iterations: 2 };

export default function () {
  if (__ITER === 0) exec.test.fail('not as it should be');
  console.log(`iteration ${__ITER}`);
}
