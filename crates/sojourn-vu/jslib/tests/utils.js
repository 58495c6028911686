import {
  check,
  findBetween,
  normalDistributionStages,
  parseDuration,
  randomIntBetween,
  randomItem,
  randomString,
  uuidv4,
} from '../k6-utils.js';
import { done, holds, options, same, throws } from './compare.js';

export { options };

export default async function () {
  const numbers = Array.from({ length: 2000 }, () => randomIntBetween(3, 5));
  same('every number, both ends included', [...new Set(numbers)].sort(), [3, 4, 5]);
  const items = Array.from({ length: 2000 }, () => randomItem(['a', 'b']));
  same('every item', [...new Set(items)].sort(), ['a', 'b']);
  holds('letters', /^[a-z]{20}$/.test(randomString(20)));
  holds('letters given', /^[xy]{20}$/.test(randomString(20, 'xy')));
  same('none', randomString(0), '');
  const ids = Array.from({ length: 500 }, () => uuidv4());
  holds(
    'version 4',
    ids.every((it) =>
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(it),
    ),
  );
  same('all different', new Set(ids).size, 500);

  const text = '<b>one</b><b>two</b>';
  same('between', findBetween(text, '<b>', '</b>'), 'one');
  same('all between', findBetween(text, '<b>', '</b>', true), ['one', 'two']);
  same(
    'nothing',
    [findBetween(text, '<i>', '</i>'), findBetween(text, '<i>', '</i>', true)],
    ['', []],
  );
  same('no end', findBetween(text, '<b>two', '<i>'), '');

  const stages = normalDistributionStages(100, 60, 12);
  same('stages', stages.length, 12);
  same(
    'their time',
    stages.reduce((sum, it) => sum + parseDuration(it.duration), 0),
    60000,
  );
  same('most in the middle', Math.max(...stages.map((it) => it.target)), 100);
  same('none at the end', stages[11].target, 0);
  const mirrored = stages.slice(0, 5).map((it) => it.target);
  same(
    'as much on both sides',
    mirrored,
    stages
      .slice(6, 11)
      .map((it) => it.target)
      .reverse(),
  );

  same(
    'durations',
    ['10s', '1m30s', '1h2m3.5s', '500ms', '2d', '1h', 250, '90'].map(parseDuration),
    [10000, 90000, 3723500, 500, 172800000, 3600000, 250, 90],
  );
  for (const wrong of ['', 'abc', '5x', '1h x', undefined])
    throws(`no duration ${wrong}`, () => parseDuration(wrong));

  same('check at once', check(1, { 'at once': (it) => it === 1 }), true);
  const later = check(1, { 'at last': async (it) => it === 1, 'at once too': (it) => it === 1 });
  holds('a promise', later instanceof Promise);
  same('of the result', await later, true);
  same('of a promise', await check(Promise.resolve(5), { 'the value': (it) => it === 5 }), true);
  done();
}
