// Expected exit code: 110. A failed soft expectation marks the test as failed, which goes on.
import { expect } from '../k6-testing.js';

export const options = { iterations: 1, thresholds: { iterations: ['count==1'] } };

export default function () {
  expect.soft(1).toBe(2);
}
