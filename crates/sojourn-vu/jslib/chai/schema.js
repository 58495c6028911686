// JSON Schema, draft 7: what of it says what a value is. `$ref` within the schema only.
import { deepEqual } from './deep.js';

const FORMATS = {
  date: /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])$/,
  'date-time':
    /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/,
  time: /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?$/,
  email: /^[^\s@]+@[^\s@]+\.[^\s@.]+$/,
  ipv4: /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/,
  uri: /^[a-z][a-z0-9+.-]*:[^\s]*$/i,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
};

const TYPES = {
  array: Array.isArray,
  boolean: (it) => typeof it === 'boolean',
  integer: (it) => typeof it === 'number' && Number.isInteger(it),
  null: (it) => it === null,
  number: (it) => typeof it === 'number',
  object: (it) => it !== null && typeof it === 'object' && !Array.isArray(it),
  string: (it) => typeof it === 'string',
};

/** What of a value is not as the schema has it: `[{ path, message }]`. */
export function violations(value, schema) {
  const wrong = [];
  visit(value, schema, '', { root: schema, wrong, depth: 0 });
  return wrong;
}

const holds = (value, schema, context) => {
  const wrong = [];
  visit(value, schema, '', { ...context, wrong, depth: context.depth + 1 });
  return wrong.length === 0;
};

function visit(value, schema, path, context) {
  const say = (message) => context.wrong.push({ path, message });
  if (schema === true || schema === undefined) return;
  if (schema === false) {
    say('nothing is allowed here');
    return;
  }
  if (context.depth > 100) throw new Error(`${path}: the schema refers to itself without end`);
  if (schema.$ref !== undefined) {
    visit(value, resolve(schema.$ref, context.root), path, {
      ...context,
      depth: context.depth + 1,
    });
    return;
  }
  const types = schema.type === undefined ? [] : [].concat(schema.type);
  if (types.length > 0 && !types.some((it) => TYPES[it](value))) say(`is no ${types.join(' or ')}`);
  if (schema.nullable === true && value === null) return;
  if (schema.enum && !schema.enum.some((it) => deepEqual(it, value)))
    say('is none of the listed values');
  if ('const' in schema && !deepEqual(schema.const, value)) say('is not the constant');
  if (typeof value === 'number') ofNumber(value, schema, say);
  if (typeof value === 'string') ofText(value, schema, say);
  if (Array.isArray(value)) ofList(value, schema, path, context, say);
  else if (TYPES.object(value)) ofObject(value, schema, path, context, say);
  combined(value, schema, path, context, say);
}

function resolve(reference, root) {
  if (!reference.startsWith('#'))
    throw new Error(`${reference}: only references within the schema are followed`);
  return reference
    .slice(1)
    .split('/')
    .filter((it) => it !== '')
    .reduce((at, step) => {
      const key = decodeURIComponent(step).replace(/~1/g, '/').replace(/~0/g, '~');
      if (at === undefined || at[key] === undefined)
        throw new Error(`${reference}: there is nothing of that name`);
      return at[key];
    }, root);
}

function ofNumber(value, schema, say) {
  if (value < schema.minimum) say(`is below ${schema.minimum}`);
  if (value > schema.maximum) say(`is above ${schema.maximum}`);
  if (value <= schema.exclusiveMinimum) say(`is not above ${schema.exclusiveMinimum}`);
  if (value >= schema.exclusiveMaximum) say(`is not below ${schema.exclusiveMaximum}`);
  if (schema.multipleOf !== undefined) {
    const times = value / schema.multipleOf;
    if (Math.abs(times - Math.round(times)) > 1e-9) say(`is no multiple of ${schema.multipleOf}`);
  }
}

function ofText(value, schema, say) {
  const { length } = Array.from(value);
  if (length < schema.minLength) say(`is shorter than ${schema.minLength}`);
  if (length > schema.maxLength) say(`is longer than ${schema.maxLength}`);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value))
    say(`does not match ${schema.pattern}`);
  const format = FORMATS[schema.format];
  if (format && !format.test(value)) say(`is no ${schema.format}`);
}

function ofList(value, schema, path, context, say) {
  if (value.length < schema.minItems) say(`has fewer than ${schema.minItems} elements`);
  if (value.length > schema.maxItems) say(`has more than ${schema.maxItems} elements`);
  if (
    schema.uniqueItems &&
    value.some((it, at) => value.slice(0, at).some((other) => deepEqual(it, other)))
  ) {
    say('has an element twice');
  }
  if (schema.contains !== undefined && !value.some((it) => holds(it, schema.contains, context))) {
    say('has no such element');
  }
  value.forEach((it, at) => {
    const own = Array.isArray(schema.items)
      ? at < schema.items.length
        ? schema.items[at]
        : schema.additionalItems
      : schema.items;
    visit(it, own, `${path}[${at}]`, context);
  });
}

function ofObject(value, schema, path, context, say) {
  const names = Object.keys(value);
  if (names.length < schema.minProperties) say(`has fewer than ${schema.minProperties} properties`);
  if (names.length > schema.maxProperties) say(`has more than ${schema.maxProperties} properties`);
  for (const name of schema.required || []) if (!(name in value)) say(`lacks ${name}`);
  for (const [name, needed] of Object.entries(schema.dependencies || {})) {
    if (!(name in value)) continue;
    if (!Array.isArray(needed)) visit(value, needed, path, context);
    else if (!needed.every((it) => it in value)) say(`has ${name} without ${needed.join(', ')}`);
  }
  for (const name of names) {
    const where = path === '' ? name : `${path}.${name}`;
    if (schema.propertyNames !== undefined) visit(name, schema.propertyNames, where, context);
    const known =
      schema.properties && Object.prototype.hasOwnProperty.call(schema.properties, name);
    if (known) visit(value[name], schema.properties[name], where, context);
    const patterns = Object.entries(schema.patternProperties || {}).filter(([pattern]) =>
      new RegExp(pattern, 'u').test(name),
    );
    patterns.forEach(([, own]) => visit(value[name], own, where, context));
    if (!known && patterns.length === 0)
      visit(value[name], schema.additionalProperties, where, context);
  }
}

function combined(value, schema, path, context, say) {
  (schema.allOf || []).forEach((it) => visit(value, it, path, context));
  if (schema.anyOf && !schema.anyOf.some((it) => holds(value, it, context)))
    say('fits none of anyOf');
  if (schema.oneOf && schema.oneOf.filter((it) => holds(value, it, context)).length !== 1)
    say('does not fit exactly one of oneOf');
  if (schema.not !== undefined && holds(value, schema.not, context)) say('fits what it must not');
  if (schema.if !== undefined) {
    visit(value, holds(value, schema.if, context) ? schema.then : schema.else, path, context);
  }
}
