// Row: 8.1 open()
// While a module is evaluated, paths begin at that module.
import { top, shared } from '../lib/inner/opens.js';
import old from '../lib/inner/opens-old.js';
import { name } from '../lib/inner/requires.js';
import { check } from 'k6';

export default function () {
  check(null, {
    'import': () => top === 'inner',
    'SharedArray': () => shared[0] === 'inner',
    'CommonJS': () => old.top === 'inner' && old.other === 'the other one',
    'require': () => name === 'the other one',
  });
}
