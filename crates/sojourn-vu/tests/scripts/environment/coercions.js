// Row: 8.1 arguments of other types than are meant
import encoding from 'k6/encoding';
import exec from 'k6/execution';
import { check, fail, group, randomSeed, sleep } from 'k6';
import { Counter, Trend } from 'k6/metrics';
import { clearTimeout as clear } from 'k6/timers';
import { parseHTML } from 'k6/html';
import { SharedArray } from 'k6/data';
import crypto from 'k6/crypto';
import http from 'k6/http';

// What the top level finds is shown by the iteration: how often it is run is not of interest here.
const early = [];
let print = (line) => early.push(line);

const show = (name, run) => {
  let shown;
  try {
    shown = JSON.stringify(run());
  } catch (error) {
    shown = `threw ${error}`;
  }
  print(`${name}: ${shown}`);
};

const fives = new SharedArray(5, () => [5]);
const nulls = new SharedArray(null, () => [NaN, null]);
for (const [name, element] of [['undefined', undefined], ['function', () => 1]]) {
  show(`SharedArray of ${name}`, () => new SharedArray(name, () => [1, element]));
}
for (const name of [null, undefined, '', 5, {}]) show('Counter', () => new Counter(name));
const counter = new Counter(true);
const trend = new Trend('trend', 'x');
show('open', () => open(null));
show('open, mode', () => typeof open('../lib/users.json', 'rb'));

export default async function () {
  print = (line) => console.log(line);
  early.forEach(print);
  show('SharedArray', () => [fives, nulls]);
  const groups = [];
  for (const name of [5, null, undefined, true]) group(name, () => groups.push(name));
  show('group', () => groups);
  for (const seconds of ['0.001', null, 'x', undefined, {}]) show('sleep', () => sleep(seconds));
  for (const sets of [5, true, [() => true]]) show('check', () => check(1, sets));
  for (const reason of [null, undefined, 5, {}]) show('fail', () => fail(reason));
  for (const seed of ['x', null, undefined, 1.5, '5', {}]) show('randomSeed', () => randomSeed(seed));
  randomSeed();
  show('add', () => [counter.add('5'), counter.add([]), counter.add(new Date(5)), counter.add()]);
  show('add, tags', () => [trend.add(1, null), trend.add(1, 5), trend.add(1, { a: 1, b: true })]);

  const fired = [];
  for (const ms of ['1', null, undefined, 'x']) setTimeout(() => fired.push(typeof ms), ms);
  const stopped = setTimeout(() => fired.push('stopped'), '1');
  for (const id of ['x', null, undefined, {}, -1, String(stopped)]) show('clear', () => clear(id));
  clearInterval();
  await new Promise((resolve) => setTimeout(resolve, 30));
  show('timers', () => fired.sort());
  for (const call of [null, 5, 'x']) show('setTimeout', () => setTimeout(call, 1));

  for (const page of [5, null, undefined, true, ['<b>x</b>']]) {
    show('parseHTML', () => parseHTML(page).text());
  }
  const page = parseHTML('<div id="a" data-x="5"><p>1</p><p>2</p></div>');
  const div = page.find('div').get(0);
  for (const name of [5, null, undefined, {}]) {
    show('html', () => [page.find('p').attr(name), div.getAttribute(name), div.hasAttribute(name)]);
    show('data', () => (name === undefined ? 0 : page.find('div').data(name)));
  }
  show('places', () => [page.find('p').eq('1').text(), page.find('p').slice('1').size()]);

  for (const coding of [undefined, null, 'none', 5, {}]) {
    show('b64', () => [encoding.b64encode('a?>', coding), encoding.b64decode('YT8+', coding, 's')]);
  }
  for (const text of ['YT8+\n', '\r\nYQ\n=\n=', 'YR==', 'YQ', 'YT 8+', 'YQ=', true, null, 5]) {
    show(`b64decode of ${JSON.stringify(text)}`, () => encoding.b64decode(text, 'std', 's'));
  }
  for (const text of ['YQ==', 'YT\n8+']) show('rawurl', () => encoding.b64decode(text, 'rawurl', 's'));
  for (const input of [undefined, null, 5, {}, [1], true]) {
    show('b64encode', () => encoding.b64encode(input));
    show('md5', () => crypto.md5(input, 'hex'));
    show('hmac', () => crypto.hmac('md5', 'k', input, 'hex'));
    show('output', () => crypto.md5('a', input));
    show('randomBytes', () => crypto.randomBytes(input).byteLength);
  }
  show('randomBytes', () => [crypto.randomBytes('3').byteLength, crypto.randomBytes(1.9).byteLength]);

  for (const value of [5, null, undefined, {}, true]) {
    show('__ENV', () => ((__ENV.X = value), __ENV.X));
  }
  show('__ENV', () => Object.keys(Object.assign(__ENV, { Y: 1 })).includes('Y') && delete __ENV.Y && __ENV.Y);
  const { metrics } = exec.vu;
  for (const value of [{}, [], null, undefined, () => 1, new Date(0), 5, false, 's']) {
    show('metadata', () => ((metrics.metadata.m = value), metrics.metadata.m));
    show('tags', () => ((metrics.tags.m = value), metrics.tags.m));
  }
  show('tags themselves', () => (metrics.tags = {}));

  const jar = http.cookieJar();
  const url = `${__ENV.BASE}/x`;
  for (const args of [[], [url], [url, 'u', undefined], [url, 'n', null], [url, 5, {}], ['x', 'a', 'b']]) {
    show('set', () => jar.set(...args));
  }
  show('options', () => [jar.set(url, 'o', 1, null), jar.set(url, 'p', 1, { max_age: '60' })]);
  show('jar', () => Object.entries(jar.cookiesForURL(url)).sort());
  for (const args of [[], [null], [5]]) show('cookiesForURL', () => jar.cookiesForURL(...args));
  for (const args of [[], [url], [url, 5]]) show('delete', () => jar.delete(...args));
  for (const args of [[], [null]]) show('clear', () => jar.clear(...args));
  for (const args of [[], [null], [{}], [5], [[1]]]) show('file', () => http.file(...args));
  const response = http.get(url);
  show('callback', () => [http.setResponseCallback(null), http.setResponseCallback()]);
  show('html of a response', () => response.html(null).text() === '');
}
