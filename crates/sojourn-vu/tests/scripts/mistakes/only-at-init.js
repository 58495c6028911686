// Row: mistakes: what may only be called at init
import { SharedArray } from 'k6/data';
import { Counter } from 'k6/metrics';

export default function () {
  for (const [name, run] of [
    ['open', () => open('../lib/users.json')],
    ['SharedArray', () => new SharedArray('s', () => [])],
    ['Counter', () => new Counter('late')],
    ['require a file that is new', () => require('../lib/old-part.js')],
    ['require a module that is new', () => require('k6/crypto')],
  ]) {
    try {
      console.log(`${name}: ${typeof run()}`);
    } catch (error) {
      console.log(`${name}: ${error}`);
    }
  }
}
