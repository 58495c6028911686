// Deep equality: alike kinds with alike contents, whatever the order of keys.

const kind = (value) => Object.prototype.toString.call(value);

export function deepEqual(a, b, seen = []) {
  if (Object.is(a, b) || (a === b && typeof a === 'number' && Object.is(a, b))) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (kind(a) !== kind(b)) return false;
  if (seen.some(([x, y]) => x === a && y === b)) return true;
  const again = (x, y) => deepEqual(x, y, [...seen, [a, b]]);
  if (a instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (a instanceof RegExp) return String(a) === String(b);
  if (a instanceof Number || a instanceof String || a instanceof Boolean)
    return Object.is(a.valueOf(), b.valueOf());
  if (a instanceof Error) return a === b;
  if (a instanceof ArrayBuffer) return again(new Uint8Array(a), new Uint8Array(b));
  if (ArrayBuffer.isView(a) || Array.isArray(a)) {
    return a.length === b.length && Array.prototype.every.call(a, (it, at) => again(it, b[at]));
  }
  if (a instanceof Set) {
    return (
      a.size === b.size &&
      [...a].every((it) => b.has(it) || [...b].some((other) => again(it, other)))
    );
  }
  if (a instanceof Map) {
    return (
      a.size === b.size &&
      [...a].every(([key, it]) =>
        b.has(key)
          ? again(it, b.get(key))
          : [...b].some(([other, value]) => again(key, other) && again(it, value)),
      )
    );
  }
  const keys = enumerable(a);
  const others = enumerable(b);
  return (
    keys.length === others.length &&
    keys.every((key) => others.includes(key) && again(a[key], b[key]))
  );
}

/** Own and inherited enumerable keys, and symbols. */
function enumerable(value) {
  const keys = [];
  // eslint-disable-next-line no-restricted-syntax
  for (const key in value) keys.push(key);
  return [
    ...keys,
    ...Object.getOwnPropertySymbols(value).filter((it) =>
      Object.prototype.propertyIsEnumerable.call(value, it),
    ),
  ];
}
