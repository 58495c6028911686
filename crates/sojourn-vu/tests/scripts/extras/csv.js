// Row: 8.9 k6/experimental/csv
import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
import { same, strict } from '../lib/same.js';

export const options = strict;

const file = await open('../lib/table.csv');
const all = await csv.parse(file);
const objects = await csv.parse(await open('../lib/table.csv'), { asObjects: true });
const some = await csv.parse(await open('../lib/table.csv'), {
  skipFirstLine: true,
  fromLine: 2,
  toLine: 3,
});
const parser = new csv.Parser(await open('../lib/table.csv'), { skipFirstLine: true });

export default async function () {
  same('all', Array.from(all), [
    ['first', 'second'],
    ['1', 'one'],
    ['2', 'two'],
    ['3', 'th,ree'],
  ]);
  same('objects', Array.from(objects)[2], { first: '3', second: 'th,ree' });
  console.log(JSON.stringify(Array.from(some)));
  const { done, value } = await parser.next();
  same('row by row', [done, value], [false, ['1', 'one']]);
  await parser.next();
  await parser.next();
  console.log(JSON.stringify(await parser.next()));
}
