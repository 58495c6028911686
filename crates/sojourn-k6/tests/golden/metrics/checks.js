// Checks that hold, fail and do both, in groups within groups, with odd names.
import { check, group } from 'k6';

export const options = { iterations: 3, thresholds: { checks: ['rate>0.9'], 'checks{kind:odd}': ['rate>0.1'] } };

export default function () {
  check(1, { 'always holds': (v) => v === 1, 'never holds': false, 'holds at first': __ITER === 0 });
  group('outer', () => {
    check(1, { 'always holds': true, 'ünïcödé ✓ <&> "q"': true }, { kind: 'odd' });
    group('inner', () => {
      check(1, { 'deep down': __ITER < 2 });
    });
    check(1, { 'after the inner': true });
  });
  group('empty', () => {});
  if (__ITER === 1) {
    group('late', () => check(1, { 'late check': true }));
  }
  check(1, { 'last of all': true });
}
