// Row: 8.6 values and names that are no good
import { Counter, Trend } from 'k6/metrics';

const counter = new Counter('good');
const told = [];
for (const name of [
  'with space',
  '',
  '1digit',
  'dash-ed',
  'a',
  'ab',
  'x'.repeat(128),
  'x'.repeat(129),
  'http_reqs',
  'iterations',
  undefined,
]) {
  try {
    new Counter(name);
    told.push(`${name}: made`);
  } catch (error) {
    told.push(`${name}: ${error}`);
  }
}
try {
  new Trend('good');
} catch (error) {
  told.push(String(error));
}
try {
  counter.add(1);
} catch (error) {
  told.push(String(error));
}
try {
  Counter('called');
} catch (error) {
  told.push(String(error));
}

export default function () {
  told.forEach((it) => console.log(it));
  for (const value of [NaN, null, undefined, 'text', {}, [], -1]) {
    try {
      console.log(`${value}: ${counter.add(value)}`);
    } catch (error) {
      console.log(`${value}: ${error}`);
    }
  }
  try {
    counter.add(1, { deep: { er: 1 } });
  } catch (error) {
    console.log(String(error));
  }
  try {
    counter.add(1, 'tags');
  } catch (error) {
    console.log(String(error));
  }
}
