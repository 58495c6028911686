// Names that whoever runs the script gives values, as globals, and the global `defines`, which has
// all of them. A script may assign objects to what it reads them from (`defines = {}`): the given
// values stay.
(function (own, native) {
  "use strict";
  const { parse } = JSON;
  const unused = new Set();
  const roots = new Map([["defines", { isWhole: false, members: [] }]]);

  const root = (name) => {
    if (!roots.has(name)) roots.set(name, { isWhole: false, members: [] });
    return roots.get(name);
  };

  for (const [path, value] of parse(native.defines)) {
    const [name, ...rest] = path;
    unused.add(path.join("."));
    if (rest.length > 0) {
      root(name).members.push([rest, value]);
    } else {
      Object.assign(root(name), { isWhole: true, whole: value });
      root("defines").members.push([[name], value]);
    }
  }

  const isObject = (value) => value !== null && typeof value === "object";

  // The object with the given members in it.
  const laid = (value, members) => {
    const made = { ...value };
    for (const [path, given] of members) {
      let at = made;
      for (const name of path.slice(0, -1)) {
        at[name] = isObject(at[name]) ? { ...at[name] } : {};
        at = at[name];
      }
      at[path.at(-1)] = given;
    }
    return made;
  };

  const used = (name) => {
    for (const known of unused) {
      if (known === name || known.startsWith(`${name}.`)) unused.delete(known);
    }
  };

  // `defines` itself tells nothing, its fields do.
  const watched = (name, value) => {
    if (name !== "defines" || !isObject(value)) return value;
    return new Proxy(value, {
      get: (_, field) => {
        if (typeof field === "string") [field, `defines.${field}`].forEach(used);
        return value[field];
      },
      ownKeys: () => {
        unused.clear();
        return Reflect.ownKeys(value);
      },
    });
  };

  for (const [name, { isWhole, whole, members }] of roots) {
    let value = isWhole ? (isObject(whole) ? laid(whole, members) : whole) : laid({}, members);
    if (isWhole && Array.isArray(whole)) value = whole;
    value = watched(name, value);
    Object.defineProperty(globalThis, name, {
      configurable: false,
      enumerable: true,
      get: () => {
        if (name !== "defines") used(name);
        return value;
      },
      set: (given) => {
        if (!isWhole) value = watched(name, isObject(given) ? laid(given, members) : given);
      },
    });
  }

  const { finish } = own;
  own.finish = () => {
    for (const name of unused) {
      own.warn(`\`${name}\` is given a value, but the script does not ask for it`);
    }
    return finish();
  };
})
