// Words for k6's responses.
import { Assertion } from './assertion.js';

/** The body is JSON. */
Assertion.addMethod('validJsonBody', function validJsonBody() {
  const response = this.flags.object;
  let good = true;
  try {
    response.json();
  } catch {
    good = false;
  }
  this.assert(good, 'has valid json body', 'has no valid json body');
});

/** The status is this one. */
Assertion.addMethod('status', function status(expected) {
  const { status: real } = this.flags.object;
  this.assert(
    real === expected,
    'expected #{this} to have status #{exp}',
    'expected #{this} not to have status #{exp}',
    expected,
    real,
  );
});

/** A header is there, and has that value. */
Assertion.addMethod('header', function header(name, value) {
  const { headers } = this.flags.object;
  const key = Object.keys(headers).find((it) => it.toLowerCase() === name.toLowerCase());
  const good = key !== undefined && (value === undefined || headers[key] === value);
  const wanted = value === undefined ? `header '${name}'` : `header '${name}' of #{exp}`;
  this.assert(
    good,
    `expected #{this} to have ${wanted}`,
    `expected #{this} not to have ${wanted}`,
    value,
  );
});
