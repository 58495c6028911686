// Row: 8.1 a script on standard input
// Stdin: yes
import { check } from 'k6';

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

export default function () {
  check(null, { 'read from standard input': () => true });
}
