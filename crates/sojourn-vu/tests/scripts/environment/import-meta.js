// Row: 8.1 import.meta.resolve; require of a file URL
import { same, strict } from '../lib/same.js';

export const options = Object.assign({ iterations: 1 }, strict);

const url = import.meta.resolve('../lib/old-part.js');
const old = require(url);

export default function () {
  same('an absolute file URL', /^file:\/\/\/.*\/lib\/old-part\.js$/.test(url), true);
  same('which can be required', old.triple(5), 15);
}
