// Row: 8.1 --include-system-env-vars=false
// Args: --include-system-env-vars=false -e GIVEN=1
// Env: FROM_SYSTEM=yes
import { check } from 'k6';

export const options = { thresholds: { checks: ['rate==1'] } };

export default function () {
  check(__ENV, {
    'nothing of the system': (it) => it.FROM_SYSTEM === undefined,
    'what was given': (it) => it.GIVEN === '1',
  });
}
