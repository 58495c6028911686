// Row: 8.3 constant-vus; iterations that run on at the end are waited for
import { sleep } from 'k6';

export const options = {
  scenarios: { all: { executor: 'constant-vus', vus: 2, duration: '1s' } },
  thresholds: { iterations: ['count==4'], iteration_duration: ['min>590'] },
};

export default function () {
  sleep(0.6);
}
