// What the scripts compare with: one check for each comparison, and the difference on the log.
import { check } from 'k6';

/** JSON whose keys are in order: what k6 reads from JSON has its keys in no order. */
export function json(value) {
  return JSON.stringify(value, (_, it) =>
    it === null || typeof it !== 'object' || Array.isArray(it)
      ? it
      : Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}

/** Equal as JSON. */
export function same(name, actual, expected) {
  const got = json(actual);
  const want = json(expected);
  const equal = got === want;
  check(equal, { [name]: (it) => it });
  if (!equal) console.error(`${name}: got ${got}, expected ${want}`);
  return equal;
}

/** `run` throws an error whose text has `part` in it. */
export function throws(name, run, part) {
  let text = 'nothing was thrown';
  try {
    run();
  } catch (error) {
    text = String(error);
  }
  const fits = text.includes(part);
  check(fits, { [name]: (it) => it });
  if (!fits) console.error(`${name}: got ${text}, expected ${part}`);
  return fits;
}

/** The value of a header in the target's echo of a request; undefined if it had none. */
export function echoed(response, header) {
  const head = response.body.split('\r\n\r\n')[0].split('\r\n').slice(1);
  const line = head.find((it) => it.toLowerCase().startsWith(`${header.toLowerCase()}: `));
  return line === undefined ? undefined : line.slice(header.length + 2);
}

/** The body in the target's echo of a request. */
export function echoedBody(response) {
  return response.body.slice(response.body.indexOf('\r\n\r\n') + 4);
}

/** Options of a script whose checks must all hold. */
export const strict = { thresholds: { checks: ['rate==1'] } };
