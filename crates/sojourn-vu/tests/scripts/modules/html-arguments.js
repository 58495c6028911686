// Row: 8.6 k6/html: what its methods may be given
import { parseHTML } from 'k6/html';

const page = `<html><body><ul><li>1</li><li class="on" data-a="1">2</li><li>3</li></ul>
<form><input name="u" value="v"></form></body></html>`;

/** Short words for what a method returns. */
function shown(value) {
  if (value === undefined) return 'undefined';
  if (typeof value.nodeName === 'function') return value.nodeName();
  if (typeof value.size === 'function') return `${value.size()}: ${value.text()}`;
  return JSON.stringify(value);
}

function attempt(what, call) {
  try {
    console.log(what, shown(call()));
  } catch (error) {
    console.log(what, error.message);
  }
}

const SELECTORS = 'find add not has closest parentsUntil nextUntil prevUntil'.split(' ');
const FUNCTIONS = 'filter is'.split(' ');
const OPTIONAL = 'children parent parents next nextAll prev prevAll siblings'.split(' ');
const OTHERS = 'eq slice index each map attr data html val text first contents'.split(' ');

export default function () {
  const list = parseHTML(page).find('li');
  const given = {
    undefined: [undefined],
    null: [null],
    one: [1],
    half: [1.5],
    minus: [-1],
    true: [true],
    object: [{}],
    array: [['li']],
    function: [() => true],
    nonsense: ['[[['],
    empty: [''],
    li: ['li'],
    selection: [list.first()],
  };
  for (const [name, values] of Object.entries(given)) {
    attempt(`parseHTML(${name})`, () => parseHTML(...values).size());
    for (const method of [...SELECTORS, ...FUNCTIONS, ...OPTIONAL, ...OTHERS]) {
      attempt(`${method}(${name})`, () => list[method](...values));
    }
    for (const method of ['parentsUntil', 'nextUntil', 'prevUntil']) {
      attempt(`${method}(undefined, ${name})`, () => list[method](undefined, ...values));
    }
    attempt(`slice(0, ${name})`, () => list.slice(0, ...values));
    attempt(`get(${name})`, () => list.get(...values));
    attempt(`data of one (${name})`, () => list.eq(1).data(...values));
  }
  // Without any, filter and is crash k6.
  for (const method of [...SELECTORS, ...OPTIONAL, ...OTHERS]) {
    attempt(`${method}()`, () => list[method]());
  }
  attempt('get()', () => list.get().length);
  attempt('data of one ()', () => list.eq(1).data());
}
