// Expectations in the manner of Chai that become checks: `describe` is a group, `expect` a check.
//
// The first expectation of a `describe` that fails ends it, and so does an exception, which becomes
// a failed check; the script goes on behind it. Outside of `describe` a failure is thrown.
import { check, group } from 'k6';
import { Assertion, AssertionError, config, onAssert } from './chai/assertion.js';
import { inspect } from './chai/inspect.js';
import { deepEqual } from './chai/deep.js';
import './chai/methods.js';
import './chai/properties.js';
import './chai/k6.js';

export { Assertion, AssertionError, config };

onAssert((good, name, message) => {
  check(null, { [name]: () => good });
  if (!good && config.logFailures) console.warn(message);
});

/** An assertion about a value, to be continued: `expect(1, 'the answer').to.equal(1)`. */
export function expect(value, message) {
  return new Assertion(value, message);
}

expect.fail = (...texts) => {
  const message = texts.length > 1 ? texts[2] || 'expect.fail()' : texts[0] || 'expect.fail()';
  new Assertion(null).assert(false, message, message);
};

/** A group of expectations; true if all held and nothing was thrown. */
export function describe(name, run) {
  let good = true;
  const failed = (error) => {
    good = false;
    if (error instanceof AssertionError) return;
    const text = error instanceof Error ? error.message : String(error);
    const shown =
      text.length > config.truncateMsgThreshold
        ? `${text.slice(0, config.truncateMsgThreshold)}…`
        : text;
    check(null, { [`Exception raised "${shown.replace(/::/g, ':')}"`]: () => false });
    console.error(error && error.stack ? `${text}\n${error.stack}` : text);
  };
  let later = null;
  group(name, () => {
    try {
      const result = run();
      if (result !== null && typeof result === 'object' && typeof result.then === 'function')
        later = result;
    } catch (error) {
      failed(error);
    }
  });
  return later === null
    ? good
    : later.then(
        () => good,
        (error) => {
          failed(error);
          return false;
        },
      );
}

/** Adds words of one's own: the plugin is given `chai` and its utilities. */
export function use(plugin) {
  plugin(chai, util);
  return chai;
}

const util = {
  inspect,
  eql: deepEqual,
  flag: (assertion, name, value) =>
    value === undefined ? assertion.flags[name] : (assertion.flags[name] = value),
  addMethod: (prototype, name, method) => prototype.constructor.addMethod(name, method),
  addProperty: (prototype, name, getter) => prototype.constructor.addProperty(name, getter),
  addChainableMethod: (prototype, name, method, chaining) => {
    prototype.constructor.addChainableMethod(name, method, chaining);
  },
  type: (value) => Object.prototype.toString.call(value).slice(8, -1),
};

const chai = {
  Assertion,
  AssertionError,
  config,
  describe,
  expect,
  use,
  util,
  version: '4.3.4',
};

export { chai };
export default chai;
