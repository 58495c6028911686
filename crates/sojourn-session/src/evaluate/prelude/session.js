// What `fn(session)` is given: each call adds a step to the block whose function runs just now.
(function (own, native) {
  "use strict";
  const DEPTH_MAX = 40;
  const STEPS_MAX = 50000;
  const ALIASES = { lt: "<", lte: "<=", gt: ">", gte: ">=", eq: "=", ne: "!=" };
  const COMPARISONS = ["=", "!=", ">", ">=", "<", "<=", ...Object.keys(ALIASES)];
  const REQUEST_OPTIONS = [
    "tag", "params", "payload", "payload_from_file", "headers", "gzip", "extraction",
    "authentication",
  ];
  const EXTRACTIONS = ["jsonpath", "xpath", "regexp", "header"];

  // The session that is being declared.
  let current = null;
  let steps = 0;
  let items = 0;

  // Adds a step; gives the session's number.
  own.step = (type, fields) => {
    if (current === null) {
      own.fail("steps are declared only within the function given to definition.session");
    }
    if (++steps > STEPS_MAX) own.fail(`more than ${STEPS_MAX} steps`);
    current.blocks.at(-1).push({ type, ...fields, at: own.at() });
    return current.number;
  };

  const add = (type, fields) => {
    own.step(type, fields);
  };

  const block = (what, declare, ...given) => {
    if (typeof declare !== "function") {
      own.fail(`${what} needs a function that declares its steps, but it is ${own.kind(declare)}`);
    }
    if (current === null) own.fail(`${what} stands outside of any session`);
    if (current.blocks.length > DEPTH_MAX) own.fail(`more than ${DEPTH_MAX} blocks within blocks`);
    const inner = [];
    current.blocks.push(inner);
    try {
      const result = own.within("", declare, own.session, ...given);
      if (typeof result?.then === "function" && !own.isPlaceholder(result)) {
        own.fail(`the function of ${what} is async, but steps are declared at once`);
      }
    } finally {
      current.blocks.pop();
    }
    if (inner.length === 0) {
      own.fail(`${what} has no step`, "its function is given the session, to call steps of");
    }
    return inner;
  };

  own.declare = (number, name, declare) => {
    if (current !== null) own.fail("a session can't be declared within another");
    current = { number, blocks: [[]], defaults: { headers: [], gzip: false, authentication: null } };
    try {
      return block(`session \`${name}\``, declare);
    } finally {
      current = null;
    }
  };

  const defaults = () => {
    if (current === null) own.fail("defaults are set only within a session");
    return current.defaults;
  };

  const comparison = (value) => {
    if (!COMPARISONS.includes(value)) {
      own.fail(`${own.kind(value)} is no comparison`, native.suggest(String(value), COMPARISONS));
    }
    return ALIASES[value] ?? value;
  };

  const condition = (left, compare, right) => ({
    left: own.text(left, "the left side of a comparison"),
    compare: comparison(compare),
    right: own.text(right, "the right side of a comparison"),
  });

  const seconds = (value, what) =>
    own.isPlaceholder(value) ? own.text(value, what) : String(own.number(value, what));

  const credentials = (value) => {
    const { username, password } = own.object(value, "authentication");
    return [own.text(username, "the username"), own.text(password, "the password")];
  };

  const payload = (value, what) => {
    if (value === undefined) return null;
    const isObject = value !== null && typeof value === "object" && !own.isPlaceholder(value);
    if (!isObject) return { text: own.text(value, what) };
    return { form: own.pairs(value, `${what}, which is an object and so becomes a form`) };
  };

  const extraction = (value) => {
    if (value === undefined) return [];
    const found = [];
    for (const kind of Object.keys(own.object(value, "extraction"))) {
      if (!EXTRACTIONS.includes(kind)) {
        own.fail(`\`${kind}\` is no kind of extraction`, native.suggest(kind, EXTRACTIONS));
      }
      const wanted = own.object(value[kind], `extraction.${kind}`);
      for (const name of Object.keys(wanted)) {
        const expression = own.name(wanted[name], `the ${kind} for \`${name}\``);
        found.push({ kind, name: own.name(name, "a variable"), expression });
      }
    }
    return found;
  };

  const request = (verb) => (url, options = {}) => {
    own.object(options, `what follows the URL in ${verb}()`);
    own.knownOptions(options, `${verb}()`, REQUEST_OPTIONS);
    const { gzip, headers, authentication } = defaults();
    const given = options.headers === undefined ? [] : own.pairs(options.headers, "headers");
    const names = given.map(([name]) => name.toLowerCase());
    const inherited = headers.filter(([name]) => !names.includes(name.toLowerCase()));
    if (options.payload !== undefined && options.payload_from_file !== undefined) {
      own.fail("a request has either payload or payload_from_file");
    }
    add("request", {
      verb: verb.toUpperCase(),
      url: own.text(url, `the URL of ${verb}()`),
      tag: options.tag === undefined ? null : own.name(options.tag, "a tag"),
      params: options.params === undefined ? [] : own.pairs(options.params, "params"),
      payload: payload(options.payload, "payload"),
      file: options.payload_from_file === undefined ? null : own.rawFile(options.payload_from_file),
      headers: [...inherited, ...given],
      gzip: options.gzip === undefined ? gzip : own.flag(options.gzip, "gzip"),
      extraction: extraction(options.extraction),
      authentication:
        options.authentication === undefined ? authentication : credentials(options.authentication),
    });
  };

  const wait = (value, options) => {
    const mean = seconds(value, "the seconds of wait()");
    if (options !== undefined && own.object(options, "the options of wait()").random === true) {
      own.warn("wait(…, {random: true}) is an old form", "use waitExp(mean), which it is taken for");
      add("wait_exp", { mean });
    } else {
      add("wait", { seconds: mean });
    }
  };

  const waitUniform = (least, most) => {
    const [low, high] = [seconds(least, "the least of waitUniform()"), seconds(most, "the most of waitUniform()")];
    if (typeof least === "number" && typeof most === "number" && least > most) {
      own.fail(`waitUniform() from ${least} to ${most}: the least comes first`);
    }
    add("wait_uniform", { low, high });
  };

  const times = (count, declare) => {
    const text = own.isPlaceholder(count)
      ? own.text(count, "the count of times()")
      : String(own.whole(count, "the count of times()", 0, 4294967295));
    add("times", { count: text, steps: block("times()", declare) });
  };

  const otherwise = (declare) => {
    const last = current?.blocks.at(-1).at(-1);
    if (last?.type !== "if" || last.otherwise !== null) own.fail("else() follows an if() that has none yet");
    last.otherwise = block("else()", declare);
  };

  const when = (value, compare, value2, declare) => {
    const tested = condition(value, compare, value2);
    add("if", { condition: tested, steps: block("if()", declare), otherwise: null });
    return own.guarded("what if() gives", { else: otherwise });
  };

  const repeat = (value, compare, value2, declare) => {
    const tested = condition(value, compare, value2);
    add("while", { condition: tested, steps: block("while()", declare) });
  };

  const forEach = (list, declare) => {
    const item = `(item ${items++})`;
    const isText = own.isPlaceholder(list);
    const texts = isText
      ? []
      : own.list(list, "the list of forEach()").map((each) => own.text(each, "an item of forEach()"));
    const value = own.placeholder(item, "an item", { kind: "variable", name: item });
    add("for_each", {
      item,
      list: isText ? own.text(list, "the list") : null,
      items: texts,
      steps: block("forEach()", declare, value),
    });
  };

  const verdict = (type) => (name, value, compare, value2) =>
    add(type, { name: own.name(name, `the name of ${type}()`), condition: condition(value, compare, value2) });

  const getVar = (name) => {
    own.name(name, "the name of a variable");
    return own.placeholder(`variable ${name}`, `the variable \`${name}\``, { kind: "variable", name });
  };

  const setVar = (name, value) =>
    add("set", { name: own.name(name, "the name of a variable"), value: own.text(value, "the value of a variable") });

  const publish = (channel, options = {}) => {
    own.object(options, "what follows the channel in publish()");
    own.knownOptions(options, "publish()", ["payload", "key", "headers", "tag"]);
    const isJson = options.payload !== null && typeof options.payload === "object" && !own.isPlaceholder(options.payload);
    add("publish", {
      channel: own.name(channel, "a channel"),
      payload: isJson ? own.json(options.payload) : own.text(options.payload ?? "", "payload"),
      key: options.key === undefined ? null : own.text(options.key, "the key of a message"),
      headers: options.headers === undefined ? [] : own.pairs(options.headers, "headers"),
      tag: options.tag === undefined ? null : own.name(options.tag, "a tag"),
    });
  };

  const expect = (stage, options = {}) => {
    own.object(options, "what follows the stage in expect()");
    own.knownOptions(options, "expect()", ["key", "within", "count", "required", "extraction", "tag"]);
    add("expect", {
      stage: own.name(stage, "a stage"),
      key: own.text(options.key, "the key of expect()"),
      within: own.number(options.within ?? 30, "`within` of expect(), in seconds,"),
      count: own.whole(options.count ?? 1, "`count` of expect()", 1, 65535),
      is_required: own.flag(options.required ?? false, "`required` of expect()"),
      extraction: extraction(options.extraction),
      tag: options.tag === undefined ? null : own.name(options.tag, "a tag"),
    });
  };

  const setAuthentication = (value) => {
    defaults().authentication = credentials(value);
  };

  const setHeader = (name, value) => {
    own.name(name, "the name of a header");
    const headers = defaults().headers.filter(([known]) => known.toLowerCase() !== name.toLowerCase());
    defaults().headers = [...headers, [name, own.text(value, `the header ${name}`)]];
  };

  const verbs = ["get", "post", "put", "patch", "delete", "head", "options"];
  own.session = own.guarded("session", {
    ...Object.fromEntries(verbs.map((verb) => [verb, request(verb)])),
    wait,
    waitUniform,
    waitExp: (mean) => add("wait_exp", { mean: seconds(mean, "the mean of waitExp()") }),
    times,
    if: when,
    else: otherwise,
    while: repeat,
    forEver: (declare) => add("for_ever", { steps: block("forEver()", declare) }),
    forEach,
    abort: () => add("abort", {}),
    check: verdict("check"),
    assert: verdict("assert"),
    setVar,
    getVar,
    matchedValue: getVar,
    lastHttpStatus: () => own.placeholder("status", "lastHttpStatus()", { kind: "status" }, true),
    log: (message) => add("log", { message: own.text(message, "what is logged") }),
    publish,
    expect,
    json: own.json,
    pick: own.pickOld,
    ds: own.dataSources,
    dataSources: own.dataSources,
    defaults: own.guarded("session.defaults", {
      setGzip: (isOn) => { defaults().gzip = own.flag(isOn, "setGzip()"); },
      setHeader,
      setAuthentication,
    }),
    setAuthentication,
  });
})
