import { Assertion, AssertionError, config, describe, expect } from '../k6chaijs.js';
import chai from '../k6chaijs.js';
import { done, same } from './compare.js';

// Failed checks are wanted here, so only the comparisons' own are looked at.
export const options = {
  iterations: 1,
  thresholds: { 'checks{of:test}': ['rate==1'], finished: ['count==1'] },
};

const good = [
  () => expect(1).to.equal(1),
  () => expect(1).to.not.equal(2),
  () => expect({ a: [1] }).to.eql({ a: [1] }),
  () => expect({ a: 1 }).to.deep.equal({ a: 1 }),
  () => expect({ a: 1 }).to.not.equal({ a: 1 }),
  () => expect(NaN).to.be.NaN,
  () => expect([NaN]).to.eql([NaN]),
  () => expect(true).to.be.true,
  () => expect(false).to.be.false,
  () => expect('x').to.be.ok,
  () => expect('').to.not.be.ok,
  () => expect(null).to.be.null,
  () => expect(undefined).to.be.undefined,
  () => expect(0).to.exist,
  () => expect([]).to.be.empty,
  () => expect('').to.be.empty,
  () => expect({}).to.be.empty,
  () => expect('text').to.be.a('string'),
  () => expect([]).to.be.an('array').that.is.empty,
  () => expect(() => 1).to.be.a('function'),
  () => expect(null).to.be.a('null'),
  () => expect('foobar').to.include('bar'),
  () => expect([1, 2]).to.include(2),
  () => expect({ a: 1, b: 2 }).to.include({ a: 1 }),
  () => expect([{ a: 1 }]).to.deep.include({ a: 1 }),
  () => expect([{ a: 1 }]).to.not.include({ a: 1 }),
  () => expect('foobar').to.have.string('foo'),
  () => expect({ a: 1 }).to.have.property('a'),
  () => expect({ a: 1 }).to.have.property('a', 1),
  () => expect({ a: 1 }).to.have.property('a').that.is.a('number').and.equal(1),
  () => expect({ a: { b: ['x'] } }).to.have.nested.property('a.b[0]', 'x'),
  () => expect({ a: { b: 1 } }).to.have.deep.property('a', { b: 1 }),
  () => expect({ a: 1 }).to.have.own.property('a'),
  () => expect([1, 2, 3]).to.have.lengthOf(3),
  () => expect('abc').to.have.length(3),
  () => expect([1, 2, 3]).to.have.lengthOf.at.least(2),
  () => expect([1, 2, 3]).to.have.length.above(2),
  () => expect([1, 2]).to.have.lengthOf.within(1, 3),
  () => expect(new Set([1])).to.have.lengthOf(1),
  () => expect(5).to.be.above(4).and.below(6),
  () => expect(5).to.be.at.least(5).and.at.most(5),
  () => expect(5).to.be.within(1, 10),
  () => expect(5).to.be.gt(4).and.lte(5),
  () => expect(1.5).to.be.closeTo(1, 0.5),
  () => expect('foo').to.match(/^f/),
  () => expect(2).to.be.oneOf([1, 2]),
  () => expect('abc').to.satisfy((it) => it.length === 3),
  () => expect({ a: 1, b: 2 }).to.have.all.keys('a', 'b'),
  () => expect({ a: 1, b: 2 }).to.have.any.keys('a', 'z'),
  () => expect({ a: 1, b: 2 }).to.include.all.keys('a'),
  () => expect({ a: 1, b: 2 }).to.have.keys(['a', 'b']),
  () => expect([3, 1, 2]).to.have.members([1, 2, 3]),
  () => expect([1, 2, 3]).to.have.ordered.members([1, 2, 3]),
  () => expect([1, 2, 3]).to.include.members([3, 1]),
  () => expect([{ a: 1 }]).to.have.deep.members([{ a: 1 }]),
  () =>
    expect(() => {
      throw new TypeError('of a type');
    }).to.throw(),
  () =>
    expect(() => {
      throw new TypeError('of a type');
    }).to.throw(TypeError, 'type'),
  () =>
    expect(() => {
      throw new TypeError('of a type');
    }).to.throw(/of a/),
  () => expect(() => 1).to.not.throw(),
  () => expect(new Date()).to.be.an.instanceof(Date),
  () => expect({ go() {} }).to.respondTo('go'),
  () => expect({ json: () => 1 }).to.have.validJsonBody(),
  () => expect({ status: 200 }).to.have.status(200),
];

const bad = [
  [() => expect(1).to.equal(2), 'expected 1 to equal 2'],
  [() => expect(1, 'one').to.equal(2), 'one: expected 1 to equal 2'],
  [() => expect({ a: 1 }).to.eql({ a: 2 }), 'expected { a: 1 } to deeply equal { a: 2 }'],
  [() => expect('x').to.not.be.a('string'), "expected 'x' not to be a string"],
  [() => expect([1]).to.include(2), 'expected [ 1 ] to include 2'],
  [() => expect({}).to.have.property('a'), "expected {} to have property 'a'"],
  [() => expect([1]).to.be.empty, 'expected [ 1 ] to be empty'],
  [() => expect([1]).to.have.lengthOf(2), 'expected [ 1 ] to have a length of 2'],
  [() => expect(1).to.be.above(2), 'expected 1 to be above 2'],
  [() => expect(1).to.be.within(2, 3), 'expected 1 to be within 2..3'],
  [() => expect({ a: 1 }).to.have.keys('b'), "expected { a: 1 } to have key 'b'"],
  [() => expect(() => 1).to.throw(), 'to throw an error'],
  [() => expect('x').to.be.above(1), "expected 'x' to be a number or a date"],
  [() => expect.fail('given up'), 'given up'],
];

const test = (name, actual, expected) => same(name, actual, expected);

export default function () {
  good.forEach((run, at) => {
    let error = null;
    try {
      run();
    } catch (caught) {
      error = String(caught);
    }
    test(`good ${at}: ${run}`.replace(/::/g, ':'), error, null);
  });
  bad.forEach(([run, text]) => {
    let error = null;
    try {
      run();
    } catch (caught) {
      error = caught;
    }
    test(
      `bad: ${text}`.replace(/::/g, ':'),
      [error instanceof AssertionError, String(error && error.message).includes(text)],
      [true, true],
    );
  });
  let after = false;
  const first = describe('a group that holds', () => {
    expect(1, 'one').to.equal(1);
  });
  const second = describe('a group that fails', () => {
    expect(1, 'one').to.equal(2);
    after = true;
  });
  const third = describe('a group that throws', () => {
    throw new Error('from inside');
  });
  test('describe tells', [first, second, third, after], [true, false, false, false]);
  chai.use((it, util) => {
    util.addMethod(it.Assertion.prototype, 'fourty', function fourty() {
      this.assert(
        this._obj === 40,
        'expected #{this} to be fourty',
        'expected #{this} not to be fourty',
      );
    });
  });
  expect(40).to.be.fourty();
  test(
    'configuration',
    [config.aggregateChecks, config.truncateMsgThreshold, chai.config === config],
    [true, 300, true],
  );
  test('Assertion', expect(1) instanceof Assertion, true);
  done();
}

export function handleSummary(data) {
  const names = (group) => [
    ...group.checks.map((it) => [it.path, it.passes, it.fails]),
    ...group.groups.flatMap(names),
  ];
  const found = names(data.root_group).filter(([path]) => path.startsWith('::a group'));
  const wanted = [
    ['::a group that holds::expected one to equal 1', 1, 0],
    ['::a group that fails::expected one to equal 2', 0, 1],
    ['::a group that throws::Exception raised "from inside"', 0, 1],
  ];
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new Error(`checks: ${JSON.stringify(found)}`);
  return {};
}
