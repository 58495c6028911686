// Words without arguments: `to.be.true`, `to.be.empty`, `to.exist` …
import { Assertion } from './assertion.js';

const simple = (name, test, text) =>
  Assertion.addProperty(name, function property() {
    this.assert(
      test(this.flags.object),
      `expected #{this} to ${text}`,
      `expected #{this} not to ${text}`,
    );
  });

simple('ok', (it) => Boolean(it), 'be truthy');
simple('true', (it) => it === true, 'be true');
simple('false', (it) => it === false, 'be false');
simple('null', (it) => it === null, 'be null');
simple('undefined', (it) => it === undefined, 'be undefined');
simple('NaN', (it) => Number.isNaN(it), 'be NaN');
simple('exist', (it) => it !== null && it !== undefined, 'exist');
simple('exists', (it) => it !== null && it !== undefined, 'exist');
simple('finite', (it) => typeof it === 'number' && Number.isFinite(it), 'be a finite number');
simple('extensible', (it) => Object.isExtensible(it), 'be extensible');
simple('sealed', (it) => Object.isSealed(it), 'be sealed');
simple('frozen', (it) => Object.isFrozen(it), 'be frozen');
simple(
  'arguments',
  (it) => Object.prototype.toString.call(it) === '[object Arguments]',
  'be arguments',
);
simple(
  'Arguments',
  (it) => Object.prototype.toString.call(it) === '[object Arguments]',
  'be arguments',
);

function isEmpty(it) {
  if (typeof it === 'string' || Array.isArray(it) || ArrayBuffer.isView(it)) return it.length === 0;
  if (it instanceof Map || it instanceof Set) return it.size === 0;
  if (it instanceof ArrayBuffer) return it.byteLength === 0;
  if (it === null || typeof it !== 'object') {
    throw new TypeError(
      `.empty was passed ${typeof it === 'symbol' ? 'a symbol' : `non-object ${it}`}`,
    );
  }
  return Object.keys(it).length === 0;
}
simple('empty', isEmpty, 'be empty');
