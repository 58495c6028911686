// Long and short names, and tags and metadata that outputs must quote.
import { Counter, Trend } from 'k6/metrics';
import exec from 'k6/execution';

export const options = {
  systemTags: ['scenario', 'group', 'vu', 'iter', 'url', 'check'],
  tags: { run: 'a=b&c,d', empty: '' },
  thresholds: {
    'a_metric_of_a_rather_long_name_that_goes_on_and_on_and_on_and_on': ['count>0'],
    "ab{quoted:'x y', url:http://a:1/}": ['avg<1'],
  },
};

const long = new Counter('a_metric_of_a_rather_long_name_that_goes_on_and_on_and_on_and_on');
const short = new Trend('ab');

export default function () {
  exec.vu.metrics.metadata.trace = 'x"y\\z<&>';
  exec.vu.metrics.tags['ünï'] = 'tab\tline\nsep\u2028';
  long.add(1);
  short.add(1.5, { quoted: 'x y', url: 'http://a:1/', a: 'b' });
  short.add(2, { url: ' x,"y"', scenario: '\r', check: '\\.' });
  short.add(3, { url: ' lead' });
  short.add(1e-7);
  short.add(123456789012);
  short.add(1e21);
}
