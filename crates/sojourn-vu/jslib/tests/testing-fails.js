// Expected exit code: 108. A failed expectation ends the test.
import { expect } from '../k6-testing.js';

export const options = { iterations: 3 };

export default function () {
  expect(1).toBe(2);
}
