// Contracts for expectations: `initContractPlugin(chai)` adds
// `expect(value).to.matchSchema(schema)`.
import { violations } from './chai/schema.js';

export function initContractPlugin(chai) {
  chai.Assertion.addMethod('matchSchema', function matchSchema(schema, message) {
    if (message !== undefined) this.flags.message = message;
    const wrong = violations(this.flags.object, schema);
    if (wrong.length > 0 && chai.config.logFailures) {
      wrong.forEach((it) => console.warn(`${it.path || 'the value'}: ${it.message}`));
    }
    this.assert(
      wrong.length === 0,
      'expected #{this} to match the schema',
      'expected #{this} to not match the schema',
      schema,
    );
  });
}

export default { initContractPlugin };
