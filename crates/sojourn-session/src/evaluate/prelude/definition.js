// The global `definition`, and what it has gathered when the script has run.
(function (own, native) {
  "use strict";
  const { stringify } = JSON;
  const SESSIONS_MAX = 1000;
  const LIST_MAX = 1000;
  const EVENTS_MAX = 100;
  const PHASE_FIELDS = ["duration", "rate", "max_clients", "max_users", "name", "session_weights"];

  const made = {
    targets: [], phases: [], phases_at: null, options: null, sessions: [], mix: null,
    channels: [], stages: [],
  };

  const bounded = (list, what) => {
    if (own.list(list, what).length > LIST_MAX) own.fail(`${what} has more than ${LIST_MAX} items`);
    return list;
  };

  const target = (url) => {
    if (made.targets.length >= LIST_MAX) own.fail(`more than ${LIST_MAX} targets`);
    made.targets.push({ url: own.name(url, "a target"), at: own.at() });
  };

  const setTargets = (urls) => {
    made.targets = [];
    if (bounded(urls, "the targets").length === 0) own.fail("no target is given");
    urls.forEach(target);
  };

  const shares = (object, what) =>
    Object.keys(own.object(object, what)).map((name) => [name, own.number(object[name], `the share of \`${name}\``)]);

  const phase = (given, index) => {
    const what = `arrival phase ${index + 1}`;
    own.knownOptions(own.object(given, what), what, PHASE_FIELDS);
    const most = given.max_clients ?? given.max_users;
    return {
      duration: own.number(given.duration, `the duration of ${what}, in seconds,`),
      rate: own.number(given.rate, `the rate of ${what}, in clients a second,`),
      clients_max: most === undefined ? null : own.whole(most, `max_clients of ${what}`, 0, 4294967295),
      name: given.name === undefined ? null : own.name(given.name, `the name of ${what}`),
      weights: given.session_weights === undefined ? null : shares(given.session_weights, `session_weights of ${what}`),
      at: own.at(),
    };
  };

  const setArrivalPhases = (phases) => {
    if (bounded(phases, "the arrival phases").length === 0) own.fail("no arrival phase is given");
    made.phases = phases.map(phase);
  };

  const setTestOptions = (options) => {
    own.knownOptions(own.object(options, "the test options"), "setTestOptions()", ["cluster", "exclude_tags", "cookies"]);
    const cluster = options.cluster === undefined ? {} : own.object(options.cluster, "cluster");
    own.knownOptions(cluster, "cluster", ["sizing", "region", "engine"]);
    const text = (name) => (cluster[name] === undefined ? null : own.name(cluster[name], `cluster.${name}`));
    const tags = options.exclude_tags === undefined ? [] : bounded(options.exclude_tags, "exclude_tags");
    made.options = {
      sizing: text("sizing"), region: text("region"), engine: text("engine"),
      exclude_tags: tags.map((tag) => own.name(tag, "a tag of exclude_tags")),
      cookies: own.flag(options.cookies ?? true, "cookies"),
      at: own.at(),
    };
  };

  const mixed = (kind, list) => {
    if (made.mix !== null && made.mix.kind !== kind) {
      own.fail("sessions are chosen by weights or by probabilities, not by both");
    }
    made.mix = { kind, shares: list, at: own.at() };
  };

  const added = (kind, name, share) => {
    const others = (made.mix?.shares ?? []).filter(([known]) => known !== name);
    mixed(kind, [...others, [name, own.number(share, `the share of \`${name}\``)]]);
  };

  const session = (name, ...rest) => {
    own.name(name, "the name of a session");
    if (made.sessions.some((known) => known.name === name)) own.fail(`there are two sessions \`${name}\``);
    if (made.sessions.length >= SESSIONS_MAX) own.fail(`more than ${SESSIONS_MAX} sessions`);
    const declare = rest.pop();
    if (rest.length > 1) own.fail("definition.session takes a name and a function");
    const number = made.sessions.length;
    const entry = { name, at: own.at(), steps: [] };
    made.sessions.push(entry);
    if (rest.length === 1) added("probabilities", name, rest[0]);
    entry.steps = own.declare(number, name, declare);
  };

  // Channels and stages are read by the reader of journey files; here they are plain data.
  const declared = (list, what, name, written) => {
    own.name(name, `the name of a ${what}`);
    if (made[list].some((known) => known.name === name)) own.fail(`there are two ${what}s \`${name}\``);
    if (made[list].length >= EVENTS_MAX) own.fail(`more than ${EVENTS_MAX} ${what}s`);
    const json = own.plain(written, `the ${what} \`${name}\``);
    made[list].push({ name, json, at: own.at() });
  };

  const declaring = (list, what) => (name, written) => declared(list, what, name, written);

  const declaringAll = (list, what) => (all) =>
    Object.keys(own.object(all, `the ${what}s`)).forEach((name) => declared(list, what, name, all[name]));

  own.definition = own.guarded("definition", {
    setTarget: (url) => setTargets([url]),
    setTargets,
    addTarget: target,
    setArrivalPhases,
    addArrivalPhase: (given) => {
      made.phases.push(phase(given, made.phases.length));
    },
    setTestOptions,
    session,
    setSessionWeights: (weights) => mixed("weights", shares(weights, "the session weights")),
    addSessionWeight: (name, weight) => added("weights", own.name(name, "a session's name"), weight),
    setSessionProbabilities: (given) => mixed("probabilities", shares(given, "the session probabilities")),
    setDataSources: own.setDataSources,
    addChannel: declaring("channels", "channel"),
    setChannels: declaringAll("channels", "channel"),
    addStage: declaring("stages", "stage"),
    setStages: declaringAll("stages", "stage"),
  });

  own.finish = () =>
    stringify({
      targets: made.targets,
      phases: made.phases,
      options: made.options,
      sessions: made.sessions,
      mix: made.mix,
      channels: made.channels,
      stages: made.stages,
      placeholders: own.placeholders,
      generators: own.generators,
      sources: own.sources,
      picks: own.picks,
      warnings: own.warnings,
    });
})
