// The assertion: a value, flags that words set, and how words are added.
import { shortened } from './inspect.js';

/** As documented for k6chaijs. */
export const config = {
  truncateMsgThreshold: 300,
  truncateVariableThreshold: 100,
  aggregateChecks: true,
  logFailures: false,
  includeStack: false,
  showDiff: true,
  truncateThreshold: 40,
};

export class AssertionError extends Error {
  constructor(message, properties) {
    super(message);
    this.name = 'AssertionError';
    Object.assign(this, properties);
  }
}

let listener = () => {};
// Words that may be called or stand in the chain; they are bound already.
const chained = new WeakSet();

/** `listen(good, name, message)` is called for each assertion. */
export function onAssert(listen) {
  listener = listen;
}

/** Words that mean nothing. */
const FILLERS = [
  'to',
  'be',
  'been',
  'is',
  'that',
  'which',
  'and',
  'has',
  'have',
  'with',
  'at',
  'of',
  'same',
  'but',
  'does',
  'still',
  'also',
];
const FLAGS = ['not', 'deep', 'nested', 'own', 'ordered', 'any', 'all'];

export class Assertion {
  constructor(value, message, flags) {
    this.flags = { ...flags };
    this.flags.object = value;
    if (message !== undefined) this.flags.message = message;
  }

  get _obj() {
    return this.flags.object;
  }
  set _obj(value) {
    this.flags.object = value;
  }

  /** The same flags for another value. */
  about(value) {
    return new Assertion(value, undefined, this.flags);
  }

  /**
   * Checks `good`, or its opposite after `not`. In the texts `#{this}` stands for the value,
   * `#{exp}` for the expected one and `#{act}` for the actual one.
   */
  assert(good, positive, negative, expected, actual) {
    const isNegated = Boolean(this.flags.not);
    const holds = isNegated ? !good : Boolean(good);
    const text = isNegated ? negative || positive : positive;
    const real = actual === undefined ? this.flags.object : actual;
    const show = (value) => shortened(value, config.truncateVariableThreshold);
    const fill = (value) =>
      text.replace(/#\{(this|exp|act)\}/g, (_, which) =>
        which === 'exp'
          ? show(expected)
          : which === 'act'
            ? value(real, 'act')
            : value(this.flags.object, 'this'),
      );
    const { message } = this.flags;
    const name =
      message !== undefined
        ? fill(() => message)
        : fill(config.aggregateChecks ? (_, which) => `\${${which}}` : show);
    const told = fill(show);
    const cut = (it) => it.slice(0, config.truncateMsgThreshold).replace(/::/g, ':');
    listener(holds, cut(name), message === undefined ? told : `${message}: ${told}`);
    if (!holds) {
      throw new AssertionError(message === undefined ? told : `${message}: ${told}`, {
        actual: real,
        expected,
        showDiff: expected !== undefined,
      });
    }
  }

  static addProperty(name, getter) {
    Object.defineProperty(Assertion.prototype, name, {
      configurable: true,
      get() {
        const result = getter.call(this);
        return result === undefined ? this : result;
      },
    });
  }

  static addMethod(name, method) {
    Object.defineProperty(Assertion.prototype, name, {
      configurable: true,
      writable: true,
      value(...args) {
        const result = method.apply(this, args);
        return result === undefined ? this : result;
      },
    });
  }

  /** A word that may be called, or stand in the chain: `to.be.a('string')`, `an.instanceof`. */
  static addChainableMethod(name, method, chaining) {
    Object.defineProperty(Assertion.prototype, name, {
      configurable: true,
      get() {
        const self = this;
        if (chaining) chaining.call(self);
        const call = (...args) => {
          const result = method.apply(self, args);
          return result === undefined ? self : result;
        };
        const proxy = new Proxy(call, {
          get(target, word) {
            const value = self[word];
            return typeof value === 'function' && !chained.has(value) ? value.bind(self) : value;
          },
          set(target, word, value) {
            self[word] = value;
            return true;
          },
        });
        chained.add(proxy);
        return proxy;
      },
    });
  }

  static overwriteMethod(name, make) {
    const before = Assertion.prototype[name];
    Assertion.addMethod(name, make(before));
  }
}

for (const word of FILLERS) Assertion.addProperty(word, () => {});
for (const word of FLAGS) {
  Assertion.addProperty(word, function set() {
    this.flags[word] = true;
    if (word === 'any') this.flags.all = false;
    if (word === 'all') this.flags.any = false;
  });
}
