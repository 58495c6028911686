// Row: 8.1 top-level await
import { same, strict } from '../lib/same.js';

const value = await Promise.resolve(7);
const later = await new Promise((resolve) => {
  Promise.resolve().then(() => resolve(8));
});

export const options = Object.assign({ iterations: value - 5 }, strict);

export default function () {
  same('the awaited values are there', [value, later], [7, 8]);
}
