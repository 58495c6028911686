// Summaries beside those that k6 v1 printed itself for the same data (golden/summary-*), letter by
// letter.
import { humanizeValue, jUnit, textSummary } from '../k6-summary.js';
import { htmlReport } from '../k6-reporter.js';
import { done, holds, options, same } from './compare.js';

export { options };

const cases = ['no', 'yes', 'odd'].map((name) => ({
  name,
  data: JSON.parse(open(`./golden/summary-${name}.json`)),
  text: open(`./golden/summary-${name}.txt`),
}));

export default function () {
  for (const { name, data, text } of cases) {
    const ours = textSummary(data, { indent: ' ', enableColors: name === 'yes' }).split('\n');
    text.split('\n').forEach((line, at) => same(`${name}, line ${at + 1}`, ours[at], line));
    same(`${name}, lines`, ours.length, text.split('\n').length);
  }
  const { data } = cases[0];
  const indented = textSummary(data, { indent: '>>', enableColors: false }).split('\n');
  holds(
    'indent',
    indented.filter((it) => it !== '').every((it) => it.startsWith('>>')),
  );
  same(
    'values',
    [
      humanizeValue(0.5, { type: 'rate' }),
      humanizeValue(1500, { type: 'counter', contains: 'data' }),
      humanizeValue(1500, { type: 'trend', contains: 'time' }),
      humanizeValue(1500, { type: 'trend', contains: 'time' }, 'us'),
      humanizeValue(1.5, { type: 'gauge', contains: 'default' }),
    ],
    ['50.00%', '1.5 kB', '1.5s', '1500000.00µs', '1.5'],
  );

  const small = {
    metrics: {
      'a{b:"c"}': { thresholds: { 'count<1': { ok: false }, 'count>0': { ok: true } } },
      d: {},
    },
  };
  same(
    'JUnit',
    jUnit(small, { name: 'x & y', classname: 'z' }),
    '<?xml version="1.0"?>\n' +
      '<testsuites tests="2" failures="1">\n<testsuite name="x &amp; y" tests="2" failures="1">\n' +
      '<testcase name="a{b:&quot;c&quot;} - count&lt;1" classname="z"><failure message="failed" /></testcase>\n' +
      '<testcase name="a{b:&quot;c&quot;} - count&gt;0" classname="z" />\n</testsuite >\n</testsuites >',
  );

  const page = htmlReport(data, { title: 'A <test>' });
  holds('a page', page.startsWith('<!DOCTYPE html>') && page.includes('A &#60;test&#62;'));
  holds(
    'with all metrics',
    Object.keys(data.metrics).every((it) => page.includes(`<td>${it}</td>`)),
  );
  holds('with checks', page.includes('deep bad') && page.includes('outer group › deeper'));
  holds('that loads nothing', !/<script|<link|<img|url\(/.test(page));
  done();
}
