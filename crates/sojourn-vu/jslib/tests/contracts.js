import chai, { expect } from '../k6chaijs.js';
import { initContractPlugin } from '../k6chaijs-contracts.js';
import { done, options, same } from './compare.js';

export { options };

const schema = {
  type: 'object',
  required: ['id', 'tags'],
  additionalProperties: false,
  properties: {
    id: { type: 'integer', minimum: 1 },
    name: { type: ['string', 'null'], maxLength: 5, pattern: '^[a-z]*$' },
    kind: { enum: ['a', 'b'] },
    tags: { type: 'array', items: { $ref: '#/definitions/tag' }, uniqueItems: true, minItems: 1 },
    either: { oneOf: [{ type: 'number' }, { type: 'string', minLength: 2 }] },
    when: { type: 'string', format: 'date-time' },
  },
  definitions: { tag: { type: 'string' } },
};

const cases = [
  [{ id: 1, tags: ['x'] }, true],
  [{ id: 1, tags: ['x'], name: null, kind: 'a', either: 5, when: '2024-02-29T12:00:00Z' }, true],
  [{ tags: ['x'] }, false],
  [{ id: 0, tags: ['x'] }, false],
  [{ id: 1.5, tags: ['x'] }, false],
  [{ id: 1, tags: [] }, false],
  [{ id: 1, tags: ['x', 'x'] }, false],
  [{ id: 1, tags: [5] }, false],
  [{ id: 1, tags: ['x'], name: 'toolong' }, false],
  [{ id: 1, tags: ['x'], name: 'A' }, false],
  [{ id: 1, tags: ['x'], kind: 'c' }, false],
  [{ id: 1, tags: ['x'], other: 1 }, false],
  [{ id: 1, tags: ['x'], either: 'x' }, false],
  [{ id: 1, tags: ['x'], when: 'yesterday' }, false],
  ['text', false],
];

export default function () {
  initContractPlugin(chai);
  for (const [value, fits] of cases) {
    const wanted = fits ? expect(value).to : expect(value).to.not;
    wanted.matchSchema(schema);
    same(JSON.stringify(value), true, true);
  }
  done();
}
