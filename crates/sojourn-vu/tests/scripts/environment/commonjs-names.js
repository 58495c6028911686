// Row: 8.1 CommonJS: require, module.exports, exports
// CommonJS modules are imported by name, and what was compiled from ES modules by its default.
import { one, two, three, none } from '../lib/inner/whole.js';
import whole from '../lib/inner/whole.js';
import * as all from '../lib/inner/whole.js';
import main, { named } from '../lib/inner/compiled.js';
import { check } from 'k6';

let caught = '';
try {
  require('../lib/throws.js');
} catch (error) {
  caught = String(error);
}

export default function () {
  let late = '';
  try {
    require('k6/http');
  } catch (error) {
    late = String(error);
  }
  check(null, {
    'names': () => one === 1 && two() === 2 && three === 3 && none === undefined,
    'default': () => whole.one === 1,
    'all': () => all.one === 1 && all.three === 3,
    'compiled': () => main() === 'main' && named === 'named',
    'a require that fails can be caught': () => caught.includes('from the module'),
    'require in an iteration': () => late.includes('only available in the init stage'),
  });
}
