// Expectations in the manner of Playwright: one that fails ends the test; a soft one marks it as
// failed; those about what is still changing are tried again until they hold.
import exec from 'k6/execution';
import { matchers } from './testing/matchers.js';
import { retrying } from './testing/retrying.js';
import { inspect } from './chai/inspect.js';

const DEFAULTS = {
  timeout: 5000,
  interval: 100,
  colorize: true,
  display: 'pretty',
  softMode: 'fail',
  soft: false,
};

export class AssertionFailedError extends Error {
  constructor(message) {
    super(message);
    this.name = 'AssertionFailedError';
  }
}

function report(text, settings) {
  const red =
    settings.colorize && settings.display === 'pretty' ? ['\u001b[31m', '\u001b[0m'] : ['', ''];
  const shown = settings.display === 'inline' ? text.replace(/\s*\n\s*/g, ', ') : text;
  const message = `${red[0]}${shown}${red[1]}`;
  if (!settings.soft) exec.test.abort(message);
  if (settings.softMode === 'throw') throw new AssertionFailedError(shown);
  console.error(message);
  exec.test.fail(shown);
}

/** What is told of an expectation that does not hold. */
function told(name, actual, args, isNegated, message) {
  const call = `expect(received)${isNegated ? '.not' : ''}.${name}(${args.length > 0 ? 'expected' : ''})`;
  const lines = [message === undefined ? call : `${message}\n${call}`];
  if (args.length > 0)
    lines.push(`Expected: ${isNegated ? 'not ' : ''}${args.map((it) => inspect(it)).join(', ')}`);
  lines.push(`Received: ${inspect(actual)}`);
  return lines.join('\n');
}

function expectation(actual, message, settings, isNegated) {
  const it = {};
  for (const name of Object.keys(matchers)) {
    it[name] = (...args) => {
      if (matchers[name](actual, ...args) === isNegated) {
        report(told(name, actual, args, isNegated, message), settings);
      }
    };
  }
  for (const name of Object.keys(retrying)) {
    it[name] = async (...args) => {
      const { test, expected, options } = retrying[name](actual, args);
      const { timeout, interval } = { ...settings, ...options };
      const end = Date.now() + timeout;
      for (;;) {
        let holds = isNegated;
        try {
          holds = await test();
        } catch (error) {
          if (Date.now() >= end) throw error;
        }
        if (holds !== isNegated) return;
        if (Date.now() >= end) break;
        await new Promise((resolve) => setTimeout(resolve, interval));
      }
      report(`${told(name, actual, expected, isNegated, message)}\nAfter: ${timeout} ms`, settings);
    };
  }
  if (!isNegated)
    Object.defineProperty(it, 'not', { get: () => expectation(actual, message, settings, true) });
  return it;
}

function make(settings) {
  const expect = (actual, message) => expectation(actual, message, settings, false);
  expect.soft = (actual, message) =>
    expectation(actual, message, { ...settings, soft: true }, false);
  expect.configure = (options) => make({ ...settings, ...options });
  Object.defineProperty(expect, 'config', { get: () => ({ ...settings }) });
  return expect;
}

const fromEnvironment = () => {
  const settings = { ...DEFAULTS };
  if (typeof __ENV === 'undefined') return settings;
  if (__ENV.K6_TESTING_COLORIZE === 'false' || __ENV.NO_COLOR) settings.colorize = false;
  if (__ENV.K6_TESTING_DISPLAY) settings.display = __ENV.K6_TESTING_DISPLAY;
  if (__ENV.K6_TESTING_TIMEOUT) settings.timeout = Number(__ENV.K6_TESTING_TIMEOUT);
  if (__ENV.K6_TESTING_INTERVAL) settings.interval = Number(__ENV.K6_TESTING_INTERVAL);
  return settings;
};

export const expect = make(fromEnvironment());
export default expect;
