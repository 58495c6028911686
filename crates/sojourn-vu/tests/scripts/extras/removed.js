// Row: 8.9 modules that k6 has removed
import timers from 'k6/experimental/timers';

export default function () {
  timers.setTimeout(() => console.log('later'), 5);
}
