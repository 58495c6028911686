// Small helpers of everyday scripts: random values, texts between texts, stages, durations.
import { check as checkNow } from 'k6';
import exec from 'k6/execution';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** A whole number from `min` to `max`, both included. */
export function randomIntBetween(min, max) {
  return Math.floor(Math.random() * (max - min + 1) + min);
}

/** One of an array's elements. */
export function randomItem(array) {
  return array[Math.floor(Math.random() * array.length)];
}

/** `length` letters of `charset`. */
export function randomString(length, charset = LETTERS) {
  let text = '';
  for (let left = length; left > 0; left--) {
    text += charset[Math.floor(Math.random() * charset.length)];
  }
  return text;
}

/** A random UUID, version 4 (RFC 9562, section 5.4). */
export function uuidv4() {
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place) => {
    const digit = Math.floor(Math.random() * 16);
    return (place === 'x' ? digit : (digit % 4) + 8).toString(16);
  });
}

/**
 * What stands between `left` and `right`: the first such text or an empty one; with `repeat` an
 * array of all.
 */
export function findBetween(content, left, right, repeat = false) {
  const found = [];
  let from = 0;
  for (;;) {
    const begin = content.indexOf(left, from);
    if (begin < 0) break;
    const end = content.indexOf(right, begin + left.length);
    if (end < 0) break;
    found.push(content.substring(begin + left.length, end));
    if (!repeat) break;
    from = end + right.length;
  }
  if (repeat) return found;
  return found.length > 0 ? found[0] : '';
}

/**
 * Stages whose users follow a bell curve from zero over `maxVus` to zero: its three standard
 * deviations to either side of the middle.
 */
export function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const stages = [];
  const each = durationSeconds / numberOfStages;
  for (let k = 1; k <= numberOfStages; k++) {
    const deviation = (k / numberOfStages) * 6 - 3;
    const target = Math.round(maxVus * Math.exp(-(deviation ** 2) / 2));
    stages.push({
      duration: `${Math.round(each * 1000)}ms`,
      target: k === numberOfStages ? 0 : target,
    });
  }
  return stages;
}

const UNITS_MS = {
  d: 86400000,
  h: 3600000,
  m: 60000,
  s: 1000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 0.000001,
};

/** A duration such as `1h30m` or `1.5s`, in milliseconds; numbers are milliseconds already. */
export function parseDuration(text) {
  if (typeof text === 'number') return text;
  if (typeof text !== 'string' || text === '') {
    throw new Error(`${JSON.stringify(text)} is not a duration: write 90s, 1m30s or 500ms`);
  }
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const part = /(\d+(?:\.\d+)?|\.\d+)(ms|us|µs|ns|d|h|m|s)/y;
  let total = 0;
  while (part.lastIndex < text.length) {
    const it = part.exec(text);
    if (it === null)
      throw new Error(`${JSON.stringify(text)} is not a duration: write 90s, 1m30s or 500ms`);
    total += Number(it[1]) * UNITS_MS[it[2]];
  }
  return total;
}

/** The running scenario's stages, and what it starts from. */
function plan() {
  const scenario = exec.test.options.scenarios[exec.scenario.name];
  if (!scenario || !scenario.stages) {
    throw new Error(
      `scenario ${exec.scenario.name} has no stages: only ramping-vus and ` +
        'ramping-arrival-rate do',
    );
  }
  const first =
    scenario.executor === 'ramping-vus' ? (scenario.startVUs ?? 1) : (scenario.startRate ?? 0);
  return { stages: scenario.stages, first: Number(first) };
}

/** Which stage of the scenario is running, from 0; the last one also afterwards. */
export function getCurrentStageIndex() {
  const { stages } = plan();
  const elapsed = Date.now() - exec.scenario.startTime;
  let end = 0;
  for (let at = 0; at < stages.length; at++) {
    end += parseDuration(stages[at].duration);
    if (elapsed < end) return at;
  }
  return stages.length - 1;
}

/** Whatever is measured from here on in this iteration has the tag `stage`. */
export function tagWithCurrentStageIndex() {
  exec.vu.metrics.tags.stage = getCurrentStageIndex();
}

/** Likewise the tag `stage_profile`: `ramp-up`, `steady` or `ramp-down`. */
export function tagWithCurrentStageProfile() {
  const { stages, first } = plan();
  const at = getCurrentStageIndex();
  const before = at === 0 ? first : Number(stages[at - 1].target);
  const target = Number(stages[at].target);
  const profile = target > before ? 'ramp-up' : target < before ? 'ramp-down' : 'steady';
  exec.vu.metrics.tags.stage_profile = profile;
}

const isPromise = (it) => it !== null && typeof it === 'object' && typeof it.then === 'function';

/**
 * k6's `check`, whose values and predicates may be promises. If any is, the result is a promise
 * of it, else the result itself.
 */
export function check(value, sets, tags) {
  if (isPromise(value)) return value.then((settled) => check(settled, sets, tags));
  const waited = [];
  let good = true;
  for (const name of Object.keys(sets)) {
    const it = sets[name];
    const result = typeof it === 'function' ? it(value) : it;
    if (isPromise(result)) {
      waited.push(result.then((settled) => checkNow(settled, { [name]: Boolean(settled) }, tags)));
    } else {
      good = checkNow(value, { [name]: Boolean(result) }, tags) && good;
    }
  }
  if (waited.length === 0) return good;
  return Promise.all(waited).then((results) => good && results.every(Boolean));
}
