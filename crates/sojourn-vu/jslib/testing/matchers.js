// Matchers that look once.
import { deepEqual } from '../chai/deep.js';

const sizeOf = (it) => {
  if (it === null || it === undefined || (it.length === undefined && it.size === undefined)) {
    throw new TypeError('only what has a length or a size has one');
  }
  return it.length === undefined ? it.size : it.length;
};

const contains = (it, element) => {
  if (typeof it === 'string') return it.includes(element);
  if (it instanceof Set || it instanceof Map) return it.has(element);
  if (it && typeof it[Symbol.iterator] === 'function') return [...it].includes(element);
  throw new TypeError('only texts, arrays, sets and maps contain anything');
};

function atPath(object, path) {
  const steps = Array.isArray(path)
    ? path
    : String(path)
        .replace(/\[(\d+)\]/g, '.$1')
        .split('.');
  let value = object;
  for (const step of steps) {
    if (value === null || value === undefined || !(step in Object(value))) return { has: false };
    value = value[step];
  }
  return { has: true, value };
}

function throws(run, expected) {
  try {
    run();
  } catch (error) {
    if (expected === undefined) return true;
    const text = error instanceof Error ? error.message : String(error);
    if (expected instanceof RegExp) return expected.test(text);
    if (typeof expected === 'function') return error instanceof expected;
    if (expected instanceof Error) return text === expected.message;
    return text.includes(expected);
  }
  return false;
}

/** An object that has all of another's properties, at any depth. */
function hasAll(value, part) {
  if (part === null || typeof part !== 'object' || Array.isArray(part))
    return deepEqual(value, part);
  return (
    value !== null &&
    typeof value === 'object' &&
    Object.keys(part).every((key) => key in value && hasAll(value[key], part[key]))
  );
}

/** Properties that are undefined count as absent. */
function stripped(value) {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(stripped);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, it]) => it !== undefined)
      .map(([key, it]) => [key, stripped(it)]),
  );
}

const equal = (a, b) => deepEqual(stripped(a), stripped(b));

export const matchers = {
  toBe: (it, expected) => Object.is(it, expected),
  toBeCloseTo: (it, expected, digits = 2) =>
    it === expected || Math.abs(it - expected) < 10 ** -digits / 2,
  toBeDefined: (it) => it !== undefined,
  toBeFalsy: (it) => !it,
  toBeGreaterThan: (it, expected) => it > expected,
  toBeGreaterThanOrEqual: (it, expected) => it >= expected,
  toBeInstanceOf: (it, expected) => it instanceof expected,
  toBeLessThan: (it, expected) => it < expected,
  toBeLessThanOrEqual: (it, expected) => it <= expected,
  toBeNaN: (it) => Number.isNaN(it),
  toBeNull: (it) => it === null,
  toBeTruthy: (it) => Boolean(it),
  toBeUndefined: (it) => it === undefined,
  toContain: contains,
  toContainEqual: (it, expected) => [...it].some((element) => equal(element, expected)),
  toEqual: equal,
  toHaveLength: (it, expected) => sizeOf(it) === expected,
  toHaveProperty(it, path, ...expected) {
    const found = atPath(it, path);
    return found.has && (expected.length === 0 || equal(found.value, expected[0]));
  },
  toMatch: (it, expected) =>
    expected instanceof RegExp ? expected.test(it) : it.includes(expected),
  toMatchObject: hasAll,
  toStrictEqual: deepEqual,
  toThrow: throws,
};
