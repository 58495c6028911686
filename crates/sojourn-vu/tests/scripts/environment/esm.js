// Row: 8.1 ES modules: default, named and namespace imports; the options export
import http, { get } from 'k6/http';
import * as k6 from 'k6';
import { check } from 'k6';
import double, { answer } from '../lib/part.js';
import * as part from '../lib/part.js';
import { same, strict } from '../lib/same.js';

export const options = Object.assign({ iterations: 2 }, strict);

export default function () {
  same('a named import is a member of the default one', http.get === get, true);
  same('so is one of a namespace', k6.check.name, check.name);
  same('a namespace has a default', typeof k6.default.check, 'function');
  same('relative default', double(4), 8);
  same('relative named', answer, 42);
  same('relative namespace', Object.keys(part).sort(), ['answer', 'count', 'default']);
}
