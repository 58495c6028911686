// How values look in messages.

/** A value as a short text: `'text'`, `[ 1, 2 ]`, `{ a: 1 }`. */
export function inspect(value, depth = 2, seen = []) {
  if (typeof value === 'string') return `'${value.replace(/\n/g, '\\n').replace(/'/g, "\\'")}'`;
  if (typeof value === 'function') return value.name ? `[Function: ${value.name}]` : '[Function]';
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Error) return `[${value.name}: ${value.message}]`;
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (seen.includes(value)) return '[Circular]';
  const inner = (it) => inspect(it, depth - 1, [...seen, value]);
  const isList = Array.isArray(value) || ArrayBuffer.isView(value);
  if (depth < 0) return isList ? `[ Array(${value.length}) ]` : '{ Object }';
  if (isList) return value.length === 0 ? '[]' : `[ ${Array.from(value, inner).join(', ')} ]`;
  if (value instanceof Map)
    return `Map{${Array.from(value, ([key, it]) => `${inner(key)} => ${inner(it)}`).join(', ')}}`;
  if (value instanceof Set) return `Set{${Array.from(value, inner).join(', ')}}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return '{}';
  const named = (key) => (/^[a-z_$][\w$]*$/i.test(key) ? key : `'${key}'`);
  return `{ ${keys.map((key) => `${named(key)}: ${inner(value[key])}`).join(', ')} }`;
}

/** Not longer than `length`. */
export function shortened(value, length) {
  const text = inspect(value);
  return text.length > length ? `${text.slice(0, length)}...` : text;
}
