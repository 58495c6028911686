// What all parts of the prelude share: errors at the script's own lines, values that are known
// only while a client runs, and the checks of arguments.
(function (own, native) {
  "use strict";
  const { stringify } = JSON;
  const PLACEHOLDERS_MAX = 50000;
  const WARNINGS_MAX = 200;
  const MARK = `{{sojourn:${native.nonce}:`;

  // Our own functions stand above the script's line.
  Error.stackTraceLimit = 40;

  class DefinitionError extends Error {}
  Object.defineProperty(DefinitionError.prototype, "name", { value: "DefinitionError" });

  // Names of our functions that the script has called and that have not returned; "" while it runs
  // a function that it has given us.
  const calls = [];

  // The number of the place at which the script called us.
  own.at = () => native.place(new Error(), calls.at(-1) ?? "");

  own.fail = (message, hint) => {
    const at = own.at();
    throw new DefinitionError(`${message}\nat: ${at}${hint ? `\nhint: ${hint}` : ""}`);
  };

  // Calls a function, known by the name under which it was called.
  own.within = (name, call, ...given) => {
    calls.push(name);
    try {
      return call(...given);
    } finally {
      calls.pop();
    }
  };

  own.warnings = [];
  own.warn = (message, hint) => {
    if (own.warnings.length < WARNINGS_MAX) {
      own.warnings.push({ message, hint: hint ?? null, at: own.at() });
    }
  };

  own.placeholders = [];
  // By their numbers: whether the value is sure to be a number.
  const areNumbers = [];
  const known = new Map();
  const markers = new WeakMap();
  let isJson = false;

  const CONDITION = "the script runs only once: use session.if, session.while or session.times";

  // In the script's own JSON a placeholder is text. For one that is sure to be a number that is a
  // slip; of a variable nobody knows.
  const asJson = (what, isNumber, marker, valueMarker) => {
    if (isJson) return valueMarker;
    if (isNumber) {
      own.fail(
        `JSON.stringify would quote ${what}, which is a number`,
        "session.json(…) writes it as a number; as `${value}` it is meant as text",
      );
    }
    return marker;
  };

  const traps = (what, isNumber, marker, valueMarker) => {
    const toPrimitive = (wanted) => {
      if (wanted === "number") {
        own.fail(`${what} is used as a number, but has its value only while a client runs`, CONDITION);
      }
      return marker;
    };
    const parts = new Map([
      [Symbol.toPrimitive, toPrimitive],
      ["toString", () => marker],
      ["toJSON", () => asJson(what, isNumber, marker, valueMarker)],
      ["concat", (...more) => [marker, ...more].join("")],
      ["then", undefined],
    ]);
    return {
      get: (_, name) => {
        if (parts.has(name) || typeof name === "symbol") return parts.get(name);
        return own.fail(
          `${what} has no \`${name}\`: it has its value only while a client runs`,
          "it can only be joined to text, or given to a step",
        );
      },
      set: (_, name) => own.fail(`${what} can't be given a property \`${String(name)}\``),
    };
  };

  // The placeholder of this key, the same each time; whether its value is sure to be a number.
  own.placeholder = (key, what, description, isNumber = false) => {
    const same = known.get(key);
    if (same) return same;
    const id = own.placeholders.length;
    if (id >= PLACEHOLDERS_MAX) own.fail(`more than ${PLACEHOLDERS_MAX} placeholders`);
    own.placeholders.push({ ...description, at: own.at() });
    areNumbers.push(isNumber);
    const marker = `${MARK}${id}}}`;
    const made = new Proxy({}, traps(what, isNumber, marker, `${MARK}${id}:v}}`));
    markers.set(made, marker);
    known.set(key, made);
    return made;
  };

  // JSON as we write it ourselves, also within an object's own `toJSON`.
  const ownJson = (value) => {
    const before = isJson;
    isJson = true;
    try {
      return stringify(value);
    } finally {
      isJson = before;
    }
  };

  // The placeholder of this number and escape, within text of JSON. A value is escaped once only;
  // a number is the same however often it is.
  const asText = (id) => {
    if (!id.includes(":")) return `${id}:s`;
    if (!areNumbers[parseInt(id, 10)]) {
      own.fail(
        "a value that stands in JSON already can't be put into JSON once more",
        "keep the inner JSON by setVar, and put its getVar into the outer one",
      );
    }
    return id;
  };

  // JSON in which placeholders stand as values.
  own.json = (value) => {
    const text = ownJson(value);
    if (text === undefined) own.fail(`session.json of ${own.kind(value)}`);
    const within = text.split(MARK);
    let made = within[0];
    for (const part of within.slice(1)) {
      const end = part.indexOf("}}");
      const [id, rest] = [part.slice(0, end), part.slice(end + 2)];
      const isValue = id.endsWith(":v") && made.endsWith('"') && rest.startsWith('"');
      if (isValue) made = `${made.slice(0, -1)}${MARK}${id}}}${rest.slice(1)}`;
      else made += `${MARK}${asText(id)}}}${rest}`;
    }
    return made;
  };

  // An object as JSON that is the same for all clients.
  own.plain = (value, what) => {
    const text = ownJson(own.object(value, what));
    if (text === undefined || text.includes(MARK)) {
      own.fail(`${what} can't hold a value that is known only while a client runs`);
    }
    return text;
  };

  own.isPlaceholder = (value) =>
    value !== null && typeof value === "object" && markers.has(value);

  own.kind = (value) => {
    if (value === undefined) return "missing";
    if (value === null) return "null";
    if (own.isPlaceholder(value)) return "a value that is known only while a client runs";
    if (Array.isArray(value)) return "a list";
    if (typeof value === "number") return `the number ${value}`;
    if (typeof value === "string") return `the text ${stringify(value.slice(0, 60))}`;
    if (typeof value === "boolean") return String(value);
    return typeof value === "function" ? "a function" : "an object";
  };

  // Text that may hold placeholders.
  own.text = (value, what) => {
    if (typeof value === "string") return value;
    if (own.isPlaceholder(value)) return markers.get(value);
    if (typeof value === "boolean" || Number.isFinite(value)) return String(value);
    return own.fail(`${what} must be text, but is ${own.kind(value)}`);
  };

  // A name: text that is the same for all clients.
  own.name = (value, what) => {
    if (typeof value !== "string" || value === "") {
      own.fail(`${what} must be text that is not empty, but is ${own.kind(value)}`);
    }
    if (value.includes(MARK)) {
      own.fail(`${what} can't hold a value that is known only while a client runs`);
    }
    return value;
  };

  own.object = (value, what) => {
    const isObject = value !== null && typeof value === "object";
    if (!isObject || Array.isArray(value) || own.isPlaceholder(value)) {
      own.fail(`${what} must be an object, but is ${own.kind(value)}`);
    }
    return value;
  };

  own.list = (value, what) => {
    if (!Array.isArray(value)) own.fail(`${what} must be a list, but is ${own.kind(value)}`);
    return value;
  };

  own.number = (value, what, least = 0) => {
    if (!Number.isFinite(value) || value < least) {
      own.fail(`${what} must be a number of at least ${least}, but is ${own.kind(value)}`);
    }
    return value;
  };

  own.whole = (value, what, least, most = Number.MAX_SAFE_INTEGER) => {
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      own.fail(`${what} must be a whole number from ${least} to ${most}, but is ${own.kind(value)}`);
    }
    return value;
  };

  own.flag = (value, what) => {
    if (typeof value !== "boolean") {
      own.fail(`${what} must be true or false, but is ${own.kind(value)}`);
    }
    return value;
  };

  own.pairs = (value, what) => {
    const read = (name) => [own.name(name, `a name in ${what}`), own.text(value[name], `\`${name}\` in ${what}`)];
    return Object.keys(own.object(value, what)).map(read);
  };

  // Names of options that nobody knows do no harm; they are told.
  own.knownOptions = (options, what, names) => {
    for (const name of Object.keys(options)) {
      if (!names.includes(name)) {
        own.warn(`${what} has no option \`${name}\`; it is ignored`, native.suggest(name, names));
      }
    }
  };

  // An object whose unknown names are errors rather than `undefined`.
  own.guarded = (what, parts) => {
    const names = Object.keys(parts);
    const target = Object.create(null);
    for (const name of names) {
      const part = parts[name];
      target[name] =
        typeof part === "function" ? (...given) => own.within(name, part, ...given) : part;
    }
    Object.freeze(target);
    return new Proxy(target, {
      get: (_, name) => {
        if (name in target) return target[name];
        if (typeof name === "symbol" || name === "then" || name === "toJSON") return undefined;
        return own.fail(`${what} has no \`${name}\``, native.suggest(name, names));
      },
      set: (_, name) => own.fail(`${what}.${String(name)} can't be set`),
    });
  };
})
