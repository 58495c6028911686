// Row: 8.3 gracefulRampDown: a user may finish its iteration
import { sleep } from 'k6';

export const options = {
  scenarios: {
    all: {
      executor: 'ramping-vus',
      startVUs: 2,
      stages: [
        { duration: '300ms', target: 2 },
        { duration: '0s', target: 0 },
        { duration: '100ms', target: 0 },
      ],
      gracefulRampDown: '2s',
    },
  },
  thresholds: { iterations: ['count==2'] },
};

export default function () {
  sleep(1);
}
