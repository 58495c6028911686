// Row: 8.4 group
import { group } from 'k6';
import { Counter } from 'k6/metrics';
import { same, throws } from '../lib/same.js';

const inside = new Counter('inside');

export const options = {
  thresholds: {
    checks: ['rate==1'],
    'inside{group:::outer}': ['count==1'],
    'inside{group:::outer::inner}': ['count==1'],
    inside: ['count==3'],
    'group_duration{group:::outer::inner}': ['max<1000'],
  },
};

export default function () {
  inside.add(1);
  const value = group('outer', () => {
    inside.add(1);
    return group('inner', () => {
      inside.add(1);
      return 'result';
    });
  });
  same('its result', value, 'result');
  same(
    'no result',
    group('none', () => {}),
    undefined,
  );
  throws(
    'a throw goes through',
    () =>
      group('throws', () => {
        throw new Error('from inside');
      }),
    'from inside',
  );
  throws('a name with two colons twice', () => group('a::b', () => {}), '::');
  group('', () => same('an empty name', true, true));
}
