import { expect } from '../k6-testing.js';
import { done, options, same } from './compare.js';

export { options };

export default async function () {
  expect(1).toBe(1);
  expect(NaN).toBe(NaN);
  expect(1).not.toBe('1');
  expect({ a: [1, { b: 2 }] }).toEqual({ a: [1, { b: 2 }] });
  expect({ a: 1, b: undefined }).toEqual({ a: 1 });
  expect({ a: 1, b: undefined }).not.toStrictEqual({ a: 1 });
  expect(0.1 + 0.2).toBeCloseTo(0.3);
  expect(5).toBeGreaterThan(4);
  expect(5).toBeLessThanOrEqual(5);
  expect(undefined).toBeUndefined();
  expect(null).toBeNull();
  expect('').toBeFalsy();
  expect('x').toBeTruthy();
  expect([1, 2]).toContain(2);
  expect('abc').toContain('bc');
  expect([{ a: 1 }]).toContainEqual({ a: 1 });
  expect('abc').toHaveLength(3);
  expect({ a: { b: [1] } }).toHaveProperty('a.b[0]', 1);
  expect({ a: 1 }).not.toHaveProperty('b');
  expect(new Date()).toBeInstanceOf(Date);
  expect('abc').toMatch(/b/);
  expect({ a: 1, b: { c: 2, d: 3 } }).toMatchObject({ b: { c: 2 } });
  expect(() => {
    throw new Error('no');
  }).toThrow('no');

  let count = 0;
  await expect(() => {
    count += 1;
    if (count < 3) throw new Error('not yet');
  }).toPass({ timeout: 2000, interval: 5 });
  same('tried again', count, 3);
  const locator = {
    textContent: async () => {
      count += 1;
      return count > 5 ? ' the  text ' : 'not yet';
    },
  };
  await expect(locator).toHaveText('the text', { interval: 5 });
  same('until it holds', count, 6);

  const thrower = expect.configure({
    softMode: 'throw',
    colorize: false,
    timeout: 20,
    interval: 5,
  });
  let text = '';
  try {
    thrower.soft(1, 'a message').toBe(2);
  } catch (error) {
    text = error.message;
  }
  same('told', text, 'a message\nexpect(received).toBe(expected)\nExpected: 2\nReceived: 1');
  try {
    await thrower.soft({ isVisible: () => false }).toBeVisible();
    text = 'nothing';
  } catch (error) {
    text = error.name;
  }
  same('not for ever', text, 'AssertionFailedError');
  done();
}
