// Row: 8.6 SharedArray
import { SharedArray } from 'k6/data';
import { same, throws } from '../lib/same.js';

let made = 0;
const users = new SharedArray('users', () => {
  made += 1;
  return JSON.parse(open('../lib/users.json'));
});
const again = new SharedArray('users', () => {
  throw new Error('not called: there is one of that name');
});
const mixed = new SharedArray('mixed', () => [
  1,
  'two',
  null,
  true,
  [1, { a: 1 }],
  { n: undefined },
]);

export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } },
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  same('length', [users.length, again.length, mixed.length], [3, 3, 6]);
  same('made once', made <= 1, true);
  same('an element', users[1], { name: 'bob', id: 2 });
  same(
    'beyond',
    [users[3], users[-1], users['x']].map((it) => typeof it),
    ['undefined', 'undefined', 'undefined'],
  );
  same(
    'for of',
    [...users].map((it) => it.name),
    ['ada', 'bob', 'cyd'],
  );
  const names = [];
  users.forEach((it, at) => names.push(`${at}${it.name}`));
  same('forEach', names, ['0ada', '1bob', '2cyd']);
  same(
    'map',
    users.map((it) => it.id),
    [1, 2, 3],
  );
  same('filter', users.filter((it) => it.id > 1).length, 2);
  same('find', users.find((it) => it.id === 3).name, 'cyd');
  same(
    'reduce',
    users.reduce((sum, it) => sum + it.id, 0),
    6,
  );
  same('slice', users.slice(1).length, 2);
  same('mixed', Array.from(mixed), [1, 'two', null, true, [1, { a: 1 }], {}]);
  same('json', JSON.stringify(users).length, JSON.stringify(Array.from(users)).length);
  same('a copy each time', users[0] === users[0], false);
  same('frozen', Object.isFrozen(users[0]), true);
  throws(
    'an element can not be set',
    () => {
      'use strict';
      users[0] = 1;
    },
    'TypeError',
  );
  throws(
    'nor changed',
    () => {
      'use strict';
      users[0].name = 'x';
    },
    'TypeError',
  );
  throws('only at init', () => new SharedArray('late', () => []), 'init');
}
