// `session.ds`: generated values, rows of files, files as bodies; and the old `session.pick`.
(function (own, native) {
  "use strict";
  const SOURCES_MAX = 1000;
  const GENERATORS_MAX = 10000;
  const PICKS_MAX = 10000;
  const LENGTH_MAX = 65536;

  own.generators = [];
  own.sources = [];
  own.picks = [];
  own.oldSources = new Map();
  const handles = new WeakMap();

  const length = (kind) => (options) => {
    own.knownOptions(options, kind, ["length", "name"]);
    return { kind, length: own.whole(options.length, `the length of a ${kind}`, 1, LENGTH_MAX) };
  };

  const range = (value) => {
    const wrong = "the range of a random_number";
    const [low, high, ...more] = own.list(value, wrong);
    if (more.length > 0) own.fail(`${wrong} has two ends, both included`, "range: [1, 6]");
    own.whole(low, `the low end of ${wrong}`, Number.MIN_SAFE_INTEGER);
    own.whole(high, `the high end of ${wrong}`, low);
    return { kind: "random_number", low, high };
  };

  const KINDS = {
    random_number: (options) => {
      own.knownOptions(options, "random_number", ["range", "name"]);
      return range(options.range);
    },
    random_string: length("random_string"),
    random_hex: length("random_hex"),
    random_uuid: (options) => {
      own.knownOptions(options, "random_uuid", ["name"]);
      return { kind: "random_uuid" };
    },
    timestamp: (options) => {
      own.knownOptions(options, "timestamp", ["unit", "name"]);
      const unit = options.unit ?? "ms";
      if (unit !== "s" && unit !== "ms") {
        own.fail(`the unit of a timestamp is "s" or "ms", not ${own.kind(unit)}`);
      }
      return { kind: "timestamp", is_seconds: unit === "s" };
    },
    sequence: (options) => {
      own.knownOptions(options, "sequence", ["start", "step", "name"]);
      return {
        kind: "sequence",
        start: own.whole(options.start ?? 1, "the start of a sequence", 0),
        step: own.whole(options.step ?? 1, "the step of a sequence", 1),
      };
    },
  };

  const handle = (what, fields) => {
    const made = own.guarded(what, {});
    handles.set(made, fields);
    return made;
  };

  const addGenerator = (fields) => {
    if (own.generators.length >= GENERATORS_MAX) own.fail(`more than ${GENERATORS_MAX} generators`);
    own.generators.push(fields);
    return own.generators.length - 1;
  };

  const define = (kind, options) => {
    if (typeof kind !== "string" || !Object.hasOwn(KINDS, kind)) {
      own.fail(`no values of the kind ${own.kind(kind)} can be generated`, native.suggest(String(kind), Object.keys(KINDS)));
    }
    const generator = addGenerator(KINDS[kind](own.object(options ?? {}, `the options of ${kind}`)));
    return handle("a generator", { generator });
  };

  const NUMBERS = ["random_number", "timestamp", "sequence"];

  const generated = (generator) => {
    const { kind } = own.generators[generator];
    const what = `a value of the kind ${kind}`;
    const described = { kind: "generated", generator };
    return own.placeholder(`generator ${generator}`, what, described, NUMBERS.includes(kind));
  };

  const generateFrom = (from) => {
    const generator = handles.get(from)?.generator;
    if (generator === undefined) {
      own.fail(`a value is generated from what ds.define gave, not from ${own.kind(from)}`);
    }
    return generated(generator);
  };

  const addSource = (fields) => {
    const same = own.sources.findIndex((source) => {
      return Object.keys(fields).every((key) => String(source[key]) === String(fields[key]));
    });
    if (same >= 0) return same;
    if (own.sources.length >= SOURCES_MAX) own.fail(`more than ${SOURCES_MAX} data sources`);
    own.sources.push({ ...fields, at: own.at() });
    return own.sources.length - 1;
  };

  const structured = (path, options) => {
    own.knownOptions(options, "a structured file", ["delimiter", "header", "fields"]);
    const fields = own.list(options.fields ?? [], "`fields` of a structured file");
    const delimiter = options.delimiter ?? null;
    if (delimiter !== null && (typeof delimiter !== "string" || !/^[\x01-\x7f]$/.test(delimiter))) {
      own.fail(`the delimiter of a structured file is one ASCII character, not ${own.kind(delimiter)}`);
    }
    return addSource({
      kind: "structured",
      path: own.name(path, "the path of a data source"),
      delimiter,
      has_header: own.flag(options.header ?? fields.length === 0, "`header` of a structured file"),
      fields: fields.map((field) => own.name(field, "a field's name")),
    });
  };

  const loadStructured = (path, options) =>
    handle("a structured file", { source: structured(path, own.object(options ?? {}, "the options of a structured file")) });

  const pick = (source) => {
    const number = own.picks.length;
    if (number >= PICKS_MAX) own.fail(`more than ${PICKS_MAX} picked rows`);
    own.picks.push({ source, session: own.step("pick", { pick: number }) });
    return number;
  };

  const cell = (pick, column) =>
    own.placeholder(`cell ${pick} ${typeof column} ${column}`, "a field of a row", {
      kind: "cell",
      pick,
      column: typeof column === "number" ? own.whole(column, "the number of a column", 0, 10000) : null,
      name: typeof column === "number" ? null : own.name(column, "the name of a column"),
    });

  const pickFrom = (from) => {
    const source = handles.get(from)?.source;
    if (source === undefined) {
      own.fail(`a row is picked from what ds.loadStructured gave, not from ${own.kind(from)}`);
    }
    const picked = pick(source);
    return own.guarded("a row", { get: (column) => cell(picked, column) });
  };

  const getRawFile = (path) => {
    const fields = { kind: "raw", path: own.name(path, "the path of a file") };
    return handle("a file", { raw: addSource(fields) });
  };

  own.rawFile = (value) => {
    const raw = handles.get(value)?.raw;
    if (raw === undefined) {
      own.fail(`payload_from_file takes what ds.getRawFile gave, not ${own.kind(value)}`);
    }
    return raw;
  };

  own.dataSources = own.guarded("session.ds", {
    define,
    generateFrom,
    generate: (kind, options) => generateFrom(define(kind, options)),
    loadStructured,
    pickFrom,
    getRawFile,
  });

  // The old global form.
  own.setDataSources = (sources) => {
    for (const name of Object.keys(own.object(sources, "data sources"))) {
      const source = own.object(sources[name], `the data source \`${name}\``);
      if (source.type === "random_number") {
        own.oldSources.set(name, { generator: addGenerator(range(source.range)) });
      } else if (source.type === "file") {
        const fields = own.list(source.fields, `\`fields\` of the data source \`${name}\``);
        own.oldSources.set(name, { source: structured(source.source, { fields }), fields });
      } else {
        own.fail(`the data source \`${name}\` is of the type ${own.kind(source.type)}`, 'there is "file" and "random_number"');
      }
    }
  };

  own.pickOld = (name) => {
    const found = own.oldSources.get(name);
    if (!found) {
      own.fail(`there is no data source ${own.kind(name)}`, native.suggest(String(name), [...own.oldSources.keys()]));
    }
    if (found.generator !== undefined) return generated(found.generator);
    const picked = pick(found.source);
    const columns = found.fields.map((field) => [field, () => cell(picked, field)]);
    return own.guarded(`a row of \`${name}\``, Object.fromEntries(columns));
  };
})
