// Row: 8.1 modules that import each other
import { both as first } from '../lib/cycle-a.js';
import { both as second } from '../lib/cycle-b.js';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  same('both are whole', [first(), second()], ['ab', 'ba']);
}
