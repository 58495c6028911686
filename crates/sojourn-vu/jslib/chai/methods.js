// Words with arguments: `equal`, `include`, `property`, `above` …
import { Assertion, AssertionError } from './assertion.js';
import { deepEqual } from './deep.js';
import { inspect } from './inspect.js';

/** Adds a method under several names; the last argument of `run` may be a message. */
function word(names, arity, run) {
  for (const name of names) {
    Assertion.addMethod(name, function method(...args) {
      if (args.length > arity && args[arity] !== undefined) this.flags.message = args[arity];
      return run.apply(this, args);
    });
  }
}

const typeOf = (it) => {
  if (it === null) return 'null';
  const name = Object.prototype.toString.call(it).slice(8, -1);
  return name.toLowerCase();
};

const equals = (flags) => (flags.deep ? deepEqual : (a, b) => a === b);

function article(name) {
  return `${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name}`;
}

function isA(kind, message) {
  if (message !== undefined) this.flags.message = message;
  const wanted = kind.toLowerCase();
  const real = this.flags.object;
  this.assert(
    typeOf(real) === wanted || (wanted === 'function' && typeof real === 'function'),
    `expected #{this} to be ${article(wanted)}`,
    `expected #{this} not to be ${article(wanted)}`,
  );
}
Assertion.addChainableMethod('a', isA);
Assertion.addChainableMethod('an', isA);

word(['equal', 'equals', 'eq'], 1, function equal(expected) {
  const text = this.flags.deep ? 'deeply equal' : 'equal';
  this.assert(
    equals(this.flags)(this.flags.object, expected),
    `expected #{this} to ${text} #{exp}`,
    `expected #{this} to not ${text} #{exp}`,
    expected,
  );
});

word(['eql', 'eqls'], 1, function eql(expected) {
  this.assert(
    deepEqual(this.flags.object, expected),
    'expected #{this} to deeply equal #{exp}',
    'expected #{this} to not deeply equal #{exp}',
    expected,
  );
});

function include(expected, message) {
  if (message !== undefined) this.flags.message = message;
  const { object, own, nested, deep } = this.flags;
  const equal = equals(this.flags);
  let good;
  if (typeof object === 'string') good = object.includes(expected);
  else if (object instanceof Map) good = [...object.values()].some((it) => equal(it, expected));
  else if (Array.isArray(object) || object instanceof Set || ArrayBuffer.isView(object)) {
    good = [...object].some((it) =>
      deep ? deepEqual(it, expected) : Object.is(it, expected) || it === expected,
    );
  } else if (object !== null && typeof object === 'object') {
    if (expected === null || typeof expected !== 'object') {
      throw new AssertionError(
        `the given combination of arguments (object and ${typeOf(expected)}) is invalid`,
      );
    }
    good = Object.keys(expected).every((key) => {
      const found = look(object, key, { own, nested });
      return found.has && equal(found.value, expected[key]);
    });
  } else {
    throw new AssertionError(
      `object tested must be an array, a map, an object, a set or a string, but ${typeOf(object)} given`,
    );
  }
  const text = deep ? 'deep include' : 'include';
  this.assert(
    good,
    `expected #{this} to ${text} #{exp}`,
    `expected #{this} to not ${text} #{exp}`,
    expected,
  );
}
const setContains = function chain() {
  this.flags.contains = true;
};
for (const name of ['include', 'includes', 'contain', 'contains']) {
  Assertion.addChainableMethod(name, include, setContains);
}

/** A property by name, or, nested, by a path such as `a.b[0].c`. */
function look(object, name, { own, nested }) {
  if (!nested) {
    const has = own ? Object.prototype.hasOwnProperty.call(object, name) : name in Object(object);
    return { has, value: has ? object[name] : undefined };
  }
  const steps = String(name).match(/(?:\\.|[^.[\]])+|\[(\d+)\]/g) || [];
  let value = object;
  for (const step of steps) {
    const key = step.startsWith('[') ? step.slice(1, -1) : step.replace(/\\(.)/g, '$1');
    if (value === null || value === undefined || !(key in Object(value))) return { has: false };
    value = value[key];
  }
  return { has: true, value };
}

function property(name, expected, message) {
  if (message !== undefined) this.flags.message = message;
  const { object, not: isNegated } = this.flags;
  if (object === null || object === undefined) {
    throw new AssertionError(
      `target cannot be null or undefined: it has no property ${inspect(name)}`,
    );
  }
  const found = look(object, name, this.flags);
  const isValued =
    arguments.length > 1 &&
    !(expected === undefined && message === undefined && arguments.length < 2);
  const words = `${this.flags.deep ? 'deep ' : ''}${this.flags.own ? 'own ' : ''}${this.flags.nested ? 'nested ' : ''}`;
  const title = `${words}property ${inspect(name)}`;
  if (isValued) {
    this.assert(
      found.has && equals(this.flags)(expected, found.value),
      `expected #{this} to have ${title} of #{exp}`,
      `expected #{this} to not have ${title} of #{exp}`,
      expected,
      found.value,
    );
  } else {
    this.assert(
      found.has,
      `expected #{this} to have ${title}`,
      `expected #{this} to not have ${title}`,
    );
  }
  if (!isNegated) this.flags.object = found.value;
}
Assertion.addMethod('property', property);
function ownProperty(...args) {
  this.flags.own = true;
  return property.apply(this, args);
}
Assertion.addMethod('ownProperty', ownProperty);
Assertion.addMethod('haveOwnProperty', ownProperty);

const sizeOf = (it) => (it instanceof Map || it instanceof Set ? it.size : it.length);

function lengthOf(expected, message) {
  if (message !== undefined) this.flags.message = message;
  const real = sizeOf(this.flags.object);
  this.assert(
    real === expected,
    `expected #{this} to have a length of #{exp}`,
    'expected #{this} to not have a length of #{exp}',
    expected,
    real,
  );
}
const setLength = function chain() {
  this.flags.doLength = true;
};
Assertion.addChainableMethod('length', lengthOf, setLength);
Assertion.addChainableMethod('lengthOf', lengthOf, setLength);

function comparison(names, test, text, opposite) {
  word(names, 1, function compare(expected) {
    const isLength = this.flags.doLength;
    const real = isLength ? sizeOf(this.flags.object) : this.flags.object;
    if (
      !isLength &&
      typeof real !== 'number' &&
      !(real instanceof Date) &&
      typeof real !== 'bigint'
    ) {
      throw new AssertionError(`expected ${inspect(real)} to be a number or a date`);
    }
    const what = isLength ? `have a length ${text}` : `be ${text}`;
    const other = isLength ? `have a length ${opposite}` : `be ${opposite}`;
    this.assert(
      test(real, expected),
      `expected #{this} to ${what} #{exp}`,
      `expected #{this} to ${other} #{exp}`,
      expected,
      real,
    );
  });
}
comparison(['above', 'gt', 'greaterThan'], (a, b) => a > b, 'above', 'at most');
comparison(['least', 'gte', 'greaterThanOrEqual'], (a, b) => a >= b, 'at least', 'below');
comparison(['below', 'lt', 'lessThan'], (a, b) => a < b, 'below', 'at least');
comparison(['most', 'lte', 'lessThanOrEqual'], (a, b) => a <= b, 'at most', 'above');

word(['within'], 2, function within(start, end) {
  const isLength = this.flags.doLength;
  const real = isLength ? sizeOf(this.flags.object) : this.flags.object;
  const what = isLength ? 'have a length within' : 'be within';
  this.assert(
    real >= start && real <= end,
    `expected #{this} to ${what} ${start}..${end}`,
    `expected #{this} to not ${what} ${start}..${end}`,
  );
});

word(['closeTo', 'approximately'], 2, function closeTo(expected, delta) {
  this.assert(
    Math.abs(this.flags.object - expected) <= delta,
    `expected #{this} to be close to ${expected} +/- ${delta}`,
    `expected #{this} not to be close to ${expected} +/- ${delta}`,
  );
});

word(['match', 'matches'], 1, function match(expected) {
  this.assert(
    expected.exec(this.flags.object) !== null,
    `expected #{this} to match ${expected}`,
    `expected #{this} not to match ${expected}`,
  );
});

word(['string'], 1, function string(expected) {
  this.assert(
    String(this.flags.object).includes(expected),
    `expected #{this} to contain ${inspect(expected)}`,
    `expected #{this} to not contain ${inspect(expected)}`,
  );
});

word(['instanceof', 'instanceOf'], 1, function instanceOf(constructor) {
  const name = constructor.name || 'an unnamed constructor';
  this.assert(
    this.flags.object instanceof constructor,
    `expected #{this} to be an instance of ${name}`,
    `expected #{this} to not be an instance of ${name}`,
  );
});

word(['oneOf'], 1, function oneOf(list) {
  const equal = equals(this.flags);
  const { object, contains } = this.flags;
  const good = contains
    ? list.some((it) => object.includes(it))
    : list.some((it) => equal(object, it));
  this.assert(
    good,
    `expected #{this} to ${contains ? 'contain' : 'be'} one of #{exp}`,
    `expected #{this} to not ${contains ? 'contain' : 'be'} one of #{exp}`,
    list,
  );
});

word(['satisfy', 'satisfies'], 1, function satisfy(test) {
  this.assert(
    test(this.flags.object),
    `expected #{this} to satisfy ${inspect(test)}`,
    `expected #{this} to not satisfy ${inspect(test)}`,
  );
});

word(['respondTo', 'respondsTo'], 1, function respondTo(name) {
  const { object } = this.flags;
  const holder = typeof object === 'function' ? object.prototype : object;
  this.assert(
    typeof holder[name] === 'function',
    `expected #{this} to respond to ${inspect(name)}`,
    `expected #{this} to not respond to ${inspect(name)}`,
  );
});

function keys(...args) {
  const { object, any, contains, deep } = this.flags;
  const given =
    args.length === 1 && args[0] !== null && typeof args[0] === 'object'
      ? Array.isArray(args[0])
        ? args[0]
        : Object.keys(args[0])
      : args;
  const isCollection = object instanceof Map || object instanceof Set;
  const real = isCollection ? [...object.keys()] : Object.keys(object);
  const wanted = isCollection ? given : given.map(String);
  if (wanted.length === 0) throw new AssertionError('keys required');
  const has = (key) => real.some((it) => (deep ? deepEqual(it, key) : it === key));
  const good = any
    ? wanted.some(has)
    : wanted.every(has) && (contains || wanted.length === real.length);
  const list = wanted.map((it) => inspect(it)).join(any ? ', or ' : ', and ');
  const text = `${contains ? 'contain' : 'have'} ${wanted.length > 1 ? `keys ${list}` : `key ${list}`}`;
  this.assert(good, `expected #{this} to ${text}`, `expected #{this} to not ${text}`, wanted, real);
}
Assertion.addMethod('keys', keys);
Assertion.addMethod('key', keys);

word(['members'], 1, function members(expected) {
  const { object, contains, ordered } = this.flags;
  const equal = equals(this.flags);
  let good;
  if (ordered) {
    good =
      (contains || object.length === expected.length) &&
      expected.every((it, at) => equal(object[at], it));
  } else {
    const left = [...object];
    good =
      (contains || object.length === expected.length) &&
      expected.every((it) => {
        const at = left.findIndex((other) => equal(other, it));
        if (at < 0) return false;
        if (!contains) left.splice(at, 1);
        return true;
      });
  }
  const text = `${contains ? 'be a superset of' : 'have the same members as'}`;
  this.assert(
    good,
    `expected #{this} to ${text} #{exp}`,
    `expected #{this} to not ${text} #{exp}`,
    expected,
  );
});

function throws(kind, pattern, message) {
  if (message !== undefined) this.flags.message = message;
  let error;
  let thrown = false;
  try {
    this.flags.object();
  } catch (caught) {
    thrown = true;
    error = caught;
  }
  const isText = typeof kind === 'string' || kind instanceof RegExp;
  const wanted = isText ? kind : pattern;
  const text =
    thrown && error !== null && typeof error === 'object' && 'message' in error
      ? error.message
      : String(error);
  const hasText =
    wanted === undefined || (wanted instanceof RegExp ? wanted.test(text) : text.includes(wanted));
  const hasKind =
    isText ||
    kind === undefined ||
    kind === null ||
    (typeof kind === 'function' ? error instanceof kind : error === kind);
  const title =
    typeof kind === 'function' ? kind.name : kind instanceof Error ? inspect(kind) : 'an error';
  const more =
    wanted === undefined
      ? ''
      : wanted instanceof RegExp
        ? ` matching ${wanted}`
        : ` including ${inspect(wanted)}`;
  this.assert(
    thrown && hasKind && hasText,
    `expected #{this} to throw ${title}${more}`,
    `expected #{this} to not throw ${title}${more}`,
  );
  this.flags.object = error;
}
for (const name of ['throw', 'throws', 'Throw']) Assertion.addMethod(name, throws);

/** How a value changes while a function runs. */
function changing(names, test, text) {
  word(names, 2, function change(subject, name) {
    const value = () => (name === undefined ? subject() : subject[name]);
    const before = value();
    this.flags.object();
    const after = value();
    this.flags.delta = Math.abs(after - before);
    const what = name === undefined ? 'the value' : `.${name}`;
    this.assert(
      test(before, after),
      `expected ${what} to ${text}`,
      `expected ${what} to not ${text}`,
    );
  });
}
changing(['change', 'changes'], (a, b) => a !== b, 'change');
changing(['increase', 'increases'], (a, b) => b > a, 'increase');
changing(['decrease', 'decreases'], (a, b) => b < a, 'decrease');
word(['by'], 1, function by(delta) {
  this.assert(
    this.flags.delta === delta,
    `expected a change by ${delta}`,
    `expected no change by ${delta}`,
  );
});
