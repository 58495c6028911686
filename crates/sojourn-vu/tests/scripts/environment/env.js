// Row: 8.1 __ENV: of the system, by -e, of a scenario
// Args: -e GIVEN=by-flag -e EMPTY= -e EQUALS=a=b
// Env: FROM_SYSTEM=yes GIVEN=by-system
import exec from 'k6/execution';
import { same } from '../lib/same.js';

export const options = {
  scenarios: {
    plain: { executor: 'per-vu-iterations', exec: 'plain' },
    dressed: {
      executor: 'per-vu-iterations',
      exec: 'dressed',
      iterations: 2,
      env: { GIVEN: 'by-scenario', OWN: 'own' },
      startTime: '200ms',
    },
  },
  thresholds: { checks: ['rate==1'] },
};

const atInit = __ENV.GIVEN;
__ENV.SET_AT_INIT = 'yes';
__ENV.GIVEN = 'by-init';

export function setup() {
  return [__ENV.SET_AT_INIT, __ENV.GIVEN];
}

export function plain(ofSetup) {
  same('setup has what its own top level has set', ofSetup, ['yes', 'by-init']);
  same('a user has not', __ENV.SET_AT_INIT, undefined);
  same('a flag wins over the system', __ENV.GIVEN, 'by-flag');
  same('the system is seen', __ENV.FROM_SYSTEM, 'yes');
  same('an empty value', __ENV.EMPTY, '');
  same('a value with a sign of equality', __ENV.EQUALS, 'a=b');
  same('what is not there', __ENV.NOT_THERE, undefined);
  same(
    'all are texts',
    Object.values(__ENV).every((it) => typeof it === 'string'),
    true,
  );
}

export function dressed() {
  const isFirst = exec.vu.iterationInScenario === 0;
  same('a scenario wins over a flag', __ENV.GIVEN, isFirst ? 'by-scenario' : 'by-iteration');
  __ENV.GIVEN = 'by-iteration';
  same('and adds', __ENV.OWN, 'own');
  same('init saw none of that', atInit, 'by-flag');
}
