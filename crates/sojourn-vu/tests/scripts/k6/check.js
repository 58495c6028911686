// Row: 8.4 check
import { check, group } from 'k6';
import { same, throws } from '../lib/same.js';

export const options = { iterations: 1 };

export default async function () {
  same(
    'all hold',
    check(5, { 'is five': (it) => it === 5, 'is a number': (it) => typeof it === 'number' }),
    true,
  );
  same(
    'one does not',
    check(5, { 'is five': (it) => it === 5, 'is six': (it) => it === 6 }),
    false,
  );
  same(
    'values instead of functions',
    check(null, { one: 1, zero: 0, text: 'x', empty: '', nil: null }),
    false,
  );
  same('no entries', check(1, {}), true);
  same('tags', check(1, { tagged: true }, { own: 'tag' }), true);
  group('inside', () => check(1, { grouped: true }));
  throws(
    'a predicate that throws',
    () =>
      check(1, {
        throwing: () => {
          throw new Error('thrown');
        },
      }),
    'thrown',
  );
  throws('a name with two colons twice', () => check(1, { 'a::b': true }), '::');
  try {
    console.log(`async predicate: ${check(1, { async: async () => false })}`);
  } catch (error) {
    console.log(`async predicate: ${error}`);
  }
}
