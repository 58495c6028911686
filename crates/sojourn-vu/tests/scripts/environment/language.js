// Row: 8.1 the language: what scripts in the wild use
import { same, strict } from '../lib/same.js';

export const options = Object.assign({ iterations: 1 }, strict);

class Account {
  #balance = 1;
  static count = 0;
  static {
    Account.count += 1;
  }
  get balance() {
    return this.#balance;
  }
  has(other) {
    return #balance in other;
  }
}

function* upTo(n) {
  for (let i = 0; i < n; i++) yield i;
}

export default async function () {
  same(
    'optional chaining',
    [null?.a, { a: { b: 1 } }?.a?.b],
    [null, 1].map((it, i) => (i ? 1 : undefined)),
  );
  same('nullish', null ?? 'd', 'd');
  const assigned = {};
  assigned.a ??= 1;
  assigned.a ||= 2;
  assigned.a &&= 3;
  same('logical assignment', assigned.a, 3);
  same(
    'private',
    [new Account().balance, Account.count, new Account().has(new Account())],
    [1, 1, true],
  );
  same('generators', [...upTo(3)], [0, 1, 2]);
  same('spread', { ...{ a: 1 }, b: 2 }, { a: 1, b: 2 });
  const { a, ...others } = { a: 1, b: 2, c: 3 };
  same('rest', others, { b: 2, c: 3 });
  same('big numbers', (2n ** 64n).toString(), '18446744073709551616');
  same('padding', '7'.padStart(3, '0'), '007');
  same('flat', [1, [2, [3]]].flat(Infinity), [1, 2, 3]);
  same('entries', Object.fromEntries([['a', 1]]), { a: 1 });
  same('at', [1, 2, 3].at(-1), 3);
  same('replaceAll', 'a-a'.replaceAll('a', 'b'), 'b-b');
  same('named groups', '2024-05'.match(/(?<y>\d+)-(?<m>\d+)/).groups.m, '05');
  same('look-behind', 'cost $42'.match(/(?<=\$)\d+/)[0], '42');
  same('sticky and unicode', /\u{1F600}/u.test('😀'), true);
  same(
    'tagged',
    ((parts, ...values) => parts.raw.join('|') + values.join(','))`a${1}b\n${2}`,
    'a|b\\n|1,2',
  );
  same(
    'matchAll',
    [...'a1b2'.matchAll(/[a-z](\d)/g)].map((it) => it[1]),
    ['1', '2'],
  );
  const settled = await Promise.allSettled([Promise.resolve(1), Promise.reject(new Error('x'))]);
  same(
    'allSettled',
    settled.map((it) => it.status),
    ['fulfilled', 'rejected'],
  );
  same('any', await Promise.any([Promise.reject(1), Promise.resolve(2)]), 2);
  const weak = new WeakMap([[assigned, 5]]);
  same('weak maps', weak.get(assigned), 5);
  same('proxies', new Proxy({}, { get: (_, name) => `got ${name}` }).x, 'got x');
  same('dates', new Date(Date.UTC(2024, 1, 29)).toISOString(), '2024-02-29T00:00:00.000Z');
  same(
    'json',
    JSON.stringify({ a: [1, { b: null }] }, null, 1),
    '{\n "a": [\n  1,\n  {\n   "b": null\n  }\n ]\n}',
  );
  same(
    'stable sort',
    [3, 1, 2].sort((x, y) => x - y),
    [1, 2, 3],
  );
  same('exponent', 2 ** 10, 1024);
  same('fixed', (1.005).toFixed(2), '1.00');
  same('symbols', Symbol.for('a') === Symbol.for('a'), true);
  label: for (const x of [1, 2]) {
    for (const y of [1]) {
      if (x === y) continue label;
    }
  }
}
